"""An eval: which scenarios are held against which target, kept under a name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.scoring.grader_config import Evaluation


@dataclass(frozen=True)
class Eval:
    """Exactly one of `connector_id` and `model`. Its scenarios are of one definition."""

    id: str
    name: str
    definition_id: str
    scenario_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    connector_id: str | None = None
    model: str | None = None
    evaluation: Evaluation = field(default_factory=Evaluation)

    @property
    def target(self) -> str:
        """As a run's plan names it."""
        return self.model or f"{PROVIDER}/{self.connector_id}"

    def to_json(self) -> dict[str, Any]:
        """All but what every kept thing has: id, name and times."""
        return {
            "definitionId": self.definition_id,
            "scenarioIds": list(self.scenario_ids),
            "connectorId": self.connector_id,
            "model": self.model,
            "evaluation": self.evaluation.to_json(),
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
            evaluation=Evaluation.from_json(data.get("evaluation") or {}),
        )
