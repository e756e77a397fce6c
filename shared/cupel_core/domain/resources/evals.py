from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode, decode_all, encode
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.resources.connectors import target_of_connector
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig


@dataclass(frozen=True)
class Eval:
    id: str
    name: str
    definition_id: str
    scenario_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    targets: tuple[Target, ...] = ()
    params: ParameterFields = field(default_factory=dict)
    """Parameters of all targets; those of a run take precedence."""
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    revision: int = 1

    @property
    def only_target(self) -> Target | None:
        """Return the only target if it has nothing but a model, so that it can be written as `model`."""
        target = self.targets[0] if len(self.targets) == 1 else None
        return target if target == Target(target.model if target else "") else None

    def to_json(self) -> dict[str, Any]:
        """Return the eval without the fields that every named resource has: id, name and times."""
        only = self.only_target
        connector_id = only.connector_id if only else None
        several = {} if only else {"targets": [encode(target) for target in self.targets]}
        return {
            "definitionId": self.definition_id,
            "scenarioIds": list(self.scenario_ids),
            "connectorId": connector_id,
            "model": only.model if only and connector_id is None else None,
            **several,
            **({"params": dict(self.params)} if self.params else {}),
            "graderConfig": encode(self.grader_config),
        }

    @classmethod
    def from_json(
        cls, eval_id: str, name: str, created_at: datetime, updated_at: datetime, data: Mapping[str, Any]
    ) -> "Eval":
        return cls(
            id=eval_id,
            name=name,
            definition_id=data["definitionId"],
            scenario_ids=tuple(data["scenarioIds"]),
            created_at=created_at,
            updated_at=updated_at,
            targets=_targets(data),
            params=data.get("params") or {},
            grader_config=decode(GraderConfig, data["graderConfig"]),
        )


def _targets(data: Mapping[str, Any]) -> tuple[Target, ...]:
    if "targets" in data:
        return decode_all(Target, data["targets"])
    connector_id = data.get("connectorId")
    return (Target(data["model"] if connector_id is None else target_of_connector(connector_id)),)


@dataclass(frozen=True)
class EvalSpec:
    """`definition_id` is needed only for a fork, which shares scenario ids with its parent."""

    name: str
    scenario_ids: tuple[str, ...]
    targets: tuple[Target, ...]
    params: ParameterFields = field(default_factory=dict)
    definition_id: str | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)


class EvalFields(TypedDict, total=False):
    """In an update, omitted fields are unchanged."""

    name: str
    scenario_ids: Sequence[str]
    definition_id: str | None
    targets: tuple[Target, ...]
    params: ParameterFields
    grader_config: Mapping[str, Any]
