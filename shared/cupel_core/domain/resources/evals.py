"""An eval: a saved evaluation of one target with chosen scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.scoring.grader_config import GraderConfig


@dataclass(frozen=True)
class Eval:
    """Has exactly one of `connector_id` and `model`. Its scenarios belong to one definition."""

    id: str
    name: str
    definition_id: str
    scenario_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    connector_id: str | None = None
    model: str | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    revision: int = 1

    @property
    def target(self) -> str:
        """The target's name in a run's plan."""
        return self.model or f"{PROVIDER}/{self.connector_id}"

    def to_json(self) -> dict[str, Any]:
        """Without the fields that every named resource has: id, name and times."""
        return {
            "definitionId": self.definition_id,
            "scenarioIds": list(self.scenario_ids),
            "connectorId": self.connector_id,
            "model": self.model,
            "evaluation": self.grader_config.to_json(),
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
            connector_id=data.get("connectorId"),
            model=data.get("model"),
            grader_config=GraderConfig.from_json(data.get("evaluation") or {}),
        )


@dataclass(frozen=True)
class EvalSpec:
    """A requested eval. `definition_id` is needed only for a fork, which shares scenario ids with its parent."""

    name: str
    scenario_ids: tuple[str, ...]
    connector_id: str | None = None
    model: str | None = None
    definition_id: str | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)


class EvalFields(TypedDict, total=False):
    """An update; omitted fields are unchanged. A connector replaces a model, and a model a connector."""

    name: str
    scenario_ids: Sequence[str]
    definition_id: str | None
    connector_id: str | None
    model: str | None
    grader_config: Mapping[str, str | None]
    """Fields of `GraderConfig`."""
