"""Requested comparisons, and what is stored of one beside its figures."""

import json
from dataclasses import field, replace
from datetime import datetime
from hashlib import sha256

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.jobs import JobStatus, job_id_of
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.codec import encode
from cupel_core.domain.runs.run import RunFailure

MIN_ALPHA, MAX_ALPHA = 0.001, 0.2
ALGORITHM = "comparison-2"
"""Part of a comparison's id; another one when the same inputs would give other figures."""


@dataclass(frozen=True)
class ComparisonOptions:
    metric: Metric | None = None
    """DECISION if None and both sides decided anything, else PASS_RATE."""
    alpha: float = 0.05
    margin: float | None = None
    """The metric's default if None."""

    @property
    def alpha_issue(self) -> str | None:
        """It says why the level cannot be used."""
        is_usable = MIN_ALPHA <= self.alpha <= MAX_ALPHA
        return None if is_usable else f"must be from {MIN_ALPHA:g} to {MAX_ALPHA:g}"

    @property
    def margin_issue(self) -> str | None:
        """It says why the margin cannot be used with the metric."""
        if self.metric and self.metric.is_rate and self.margin is not None and self.margin > 1:
            return f"must be at most 1: {self.metric} is a share"
        return None


@dataclass(frozen=True)
class SideSpec:
    """A run, or some of its targets and prompts."""

    run_id: str
    targets: tuple[str, ...] = ()
    """Ids or models; all if empty."""
    prompts: tuple[str, ...] = ()
    rescore_id: str | None = None
    """The rescore whose results count; the run's own scoring if None."""


@dataclass(frozen=True)
class ComparisonSpec:
    baseline: SideSpec
    comparison: SideSpec
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    experiment_id: str | None = None
    """Of an experiment that asked for it."""

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The baseline's first; one if both sides are of the same run."""
        return tuple(dict.fromkeys((self.baseline.run_id, self.comparison.run_id)))


@dataclass(frozen=True)
class ComparisonRecord:
    """A comparison as stored, without its figures."""

    workspace: str
    id: str
    spec: ComparisonSpec
    revisions: tuple[str, str]
    """Identify the outcomes of either side that are compared."""
    created_at: datetime
    status: JobStatus = JobStatus.QUEUED
    """RUNNING is known from the job only."""
    verdict: str | None = None
    sentence: str | None = None
    """Of all pairs together, or of the only one."""
    failure: RunFailure | None = None
    completed_at: datetime | None = None

    @property
    def job_id(self) -> str:
        return job_id_of(self.id)

    def completed(self, verdict: str, sentence: str, now: datetime) -> "ComparisonRecord":
        return replace(self, status=JobStatus.COMPLETED, verdict=verdict, sentence=sentence, completed_at=now)

    def failed(self, failure: RunFailure, now: datetime) -> "ComparisonRecord":
        return replace(self, status=JobStatus.FAILED, failure=failure, completed_at=now)


def comparison_id(spec: ComparisonSpec, revisions: tuple[str, str]) -> str:
    """The same for the same request about the same outcomes."""
    inputs = json.dumps([ALGORITHM, encode(spec), revisions], sort_keys=True)
    return f"cmp_{sha256(inputs.encode()).hexdigest()[:24]}"
