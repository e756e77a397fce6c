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
"""A comparison's id contains this version, which changes when the same inputs would give other figures."""


@dataclass(frozen=True)
class ComparisonOptions:
    metric: Metric | None = None
    """If None, it is DECISION if both sides decided anything, and else PASS_RATE."""
    alpha: float = 0.05
    margin: float | None = None

    @property
    def alpha_issue(self) -> str | None:
        is_usable = MIN_ALPHA <= self.alpha <= MAX_ALPHA
        return None if is_usable else f"must be from {MIN_ALPHA:g} to {MAX_ALPHA:g}"

    @property
    def margin_issue(self) -> str | None:
        if self.metric and self.metric.is_rate and self.margin is not None and self.margin > 1:
            return f"must be at most 1: {self.metric} is a share"
        return None


@dataclass(frozen=True)
class SideSpec:
    run_id: str
    targets: tuple[str, ...] = ()
    """Ids or models; all targets are compared if empty."""
    prompts: tuple[str, ...] = ()
    rescore_id: str | None = None
    """The results of this rescore count; those of the run's own scoring if None."""


@dataclass(frozen=True)
class ComparisonSpec:
    baseline: SideSpec
    comparison: SideSpec
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    experiment_id: str | None = None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Return the baseline's run id first, and only one id if both sides are of the same run."""
        return tuple(dict.fromkeys((self.baseline.run_id, self.comparison.run_id)))


@dataclass(frozen=True)
class ComparisonRecord:
    workspace: str
    id: str
    spec: ComparisonSpec
    revisions: tuple[str, str]
    created_at: datetime
    status: JobStatus = JobStatus.QUEUED
    """A stored status is never RUNNING, which only the job knows."""
    verdict: str | None = None
    sentence: str | None = None
    """The sentence is about all pairs together, or about the only one."""
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
    inputs = json.dumps([ALGORITHM, encode(spec), revisions], sort_keys=True)
    return f"cmp_{sha256(inputs.encode()).hexdigest()[:24]}"
