from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.domain.statistics import DECISION_CODES


@dataclass
class ErrorCause:
    """Counts errored probes with one code; `message` is the latest."""

    code: str
    count: int
    message: str
    latest_at: datetime

    def add(self, error: ProbeError) -> None:
        self.count += 1
        if error.created_at >= self.latest_at:
            self.message, self.latest_at = error.message, error.created_at


@dataclass
class UnscoredSample:
    """Counts unscored answers with one cause; `message` is the error of the first, if its text was read."""

    cause: UnscoredCause
    count: int
    probe_index: int
    message: str | None


@dataclass
class ColumnSample:
    completed: int = 0
    judged: int = 0
    passed: int = 0
    decided: int = 0
    """Number of probes with a decision from 1 to 5."""
    decision_sum: int = 0
    tokens: int = 0
    errored: int = 0
    _causes: dict[str, ErrorCause] = field(default_factory=dict)
    _unscored: dict[UnscoredCause, UnscoredSample] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        if isinstance(outcome, ProbeError):
            self._add_error(outcome)
            return
        self.completed += 1
        self.tokens += outcome.conversation.usage.total
        if outcome.result is not None:
            self.judged += 1
            self.passed += outcome.result.success
        elif outcome.scoring is not None and outcome.scoring.cause is not None:
            self._add_unscored(outcome.probe_index, outcome.scoring.cause, outcome.scoring.unscored_error)
        if outcome.summary is not None and outcome.summary.decision_code in DECISION_CODES:
            self.decided += 1
            self.decision_sum += int(outcome.summary.decision_code)

    def _add_error(self, error: ProbeError) -> None:
        self.errored += 1
        self._causes.setdefault(error.code, ErrorCause(error.code, 0, error.message, error.created_at)).add(error)

    def _add_unscored(self, index: int, cause: UnscoredCause, message: str | None) -> None:
        self._unscored.setdefault(cause, UnscoredSample(cause, 0, index, message)).count += 1

    @property
    def unscored(self) -> tuple[UnscoredSample, ...]:
        """Return the causes of unscored answers, with the most frequent one first."""
        return tuple(sorted(self._unscored.values(), key=lambda each: (-each.count, each.cause.sort_key)))

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def mean_decision(self) -> float | None:
        return self.decision_sum / self.decided if self.decided else None

    @property
    def causes(self) -> tuple[ErrorCause, ...]:
        return tuple(sorted(self._causes.values(), key=lambda cause: -cause.count))


def sample_columns(plan: Plan, outcomes: Iterable[Outcome]) -> Sequence[ColumnSample]:
    samples = [ColumnSample() for _ in plan.columns]
    for outcome in outcomes:
        samples[plan.probe(outcome.probe_index).column].add(outcome)
    return samples
