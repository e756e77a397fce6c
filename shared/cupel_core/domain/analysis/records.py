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
    """The figures are now computed in another way."""
    REQUESTED = "requested"
    """A new computation was requested although nothing has changed."""


_VOIDED = "voided"


@dataclass(frozen=True)
class AnalysisRecord:
    id: str
    workspace: str
    run_id: str
    kind: AnalysisKind
    status: AnalysisStatus
    revision: str
    algorithm_version: str
    created_at: datetime
    rescore_id: str | None = None
    inputs_hash: str | None = None
    """None if the analysis failed."""
    failure: RunFailure | None = None
    narrator: str | None = None
    """The model that wrote the narrative of a deep analysis; None if rules wrote it."""

    def has_narrative_by(self, model: str | None) -> bool:
        return model is None or self.narrator == model

    def with_revision(self, revision: str) -> "AnalysisRecord":
        """Return the same figures for outcomes that changed and changed back."""
        return replace(self, revision=revision)

    def voided(self) -> "AnalysisRecord":
        """Return the same figures, marked to be computed again whatever the outcomes are."""
        return replace(self, revision=_VOIDED, inputs_hash=None)

    def has_same_figures(self, other: "AnalysisRecord") -> bool:
        return self.inputs_hash == other.inputs_hash and self.algorithm_version == other.algorithm_version

    def stale_reason(self, revision: str, algorithm_version: str) -> StaleReason | None:
        if self.revision == _VOIDED:
            return StaleReason.REQUESTED
        if self.revision != revision:
            return StaleReason.INPUTS
        return StaleReason.ALGORITHM if self.algorithm_version != algorithm_version else None
