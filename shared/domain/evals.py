"""An eval: which scenarios are held against which target, kept under a name."""

from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.connectors import PROVIDER
from shared.domain.evaluation import Evaluation


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
