"""An analysis as it is stored: what it was computed from, and how that went."""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.run import RunFailure


class AnalysisKind(StrEnum):
    BASIC = "basic"
    DEEP = "deep"


class AnalysisStatus(StrEnum):
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class StaleReason(StrEnum):
    INPUTS = "inputs"
    """Outcomes have changed: by a correction, a retry or an expansion."""
    ALGORITHM = "algorithm"
    """The figures are computed in another way now."""
    REQUESTED = "requested"
    """They are to be computed again although nothing has changed."""


_VOIDED = "voided"
"""A revision that no outcomes have."""


@dataclass(frozen=True)
class AnalysisRecord:
    id: str
    workspace: str
    run_id: str
    kind: AnalysisKind
    status: AnalysisStatus
    revision: str
    """Of the outcomes that were counted."""
    algorithm_version: str
    created_at: datetime
    rescore_id: str | None = None
    inputs_hash: str | None = None
    """None if it failed."""
    failure: RunFailure | None = None
    narrator: str | None = None
    """The model that wrote the narrative of a deep analysis; None for rules."""

    def has_narrative_by(self, model: str | None) -> bool:
        """Whether nothing is missing for a reader who wants this model's, or none in particular."""
        return model is None or self.narrator == model

    def with_revision(self, revision: str) -> "AnalysisRecord":
        """The same figures, of outcomes that came to be the same again."""
        return replace(self, revision=revision)

    def voided(self) -> "AnalysisRecord":
        """The same figures, which are to be computed again whatever the outcomes are."""
        return replace(self, revision=_VOIDED, inputs_hash=None)

    def has_same_figures(self, other: "AnalysisRecord") -> bool:
        """Whether both were computed from the same, in the same way."""
        return self.inputs_hash == other.inputs_hash and self.algorithm_version == other.algorithm_version

    def stale_reason(self, revision: str, algorithm_version: str) -> StaleReason | None:
        """Why it is not what would be computed now."""
        if self.revision == _VOIDED:
            return StaleReason.REQUESTED
        if self.revision != revision:
            return StaleReason.INPUTS
        return StaleReason.ALGORITHM if self.algorithm_version != algorithm_version else None
