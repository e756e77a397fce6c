"""What leaves do not know about a target, from outcomes: results, decisions, tokens, causes of errors."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.statistics import DECISION_CODES


@dataclass
class ErrorCause:
    """Errored probes of one code; `message` is of the latest."""

    code: str
    count: int
    message: str


@dataclass
class TargetSample:
    """Of the outcomes of one target that were read."""

    completed: int = 0
    judged: int = 0
    passed: int = 0
    decisions: list[int] = field(default_factory=list)
    """The decisions from 1 to 5."""
    tokens: int = 0
    errors: list[ProbeError] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        if isinstance(outcome, ProbeError):
            self.errors.append(outcome)
            return
        self.completed += 1
        self.tokens += outcome.conversation.usage.total
        if outcome.result is not None:
            self.judged += 1
            self.passed += outcome.result.success
        if outcome.summary is not None and outcome.summary.decision_code in DECISION_CODES:
            self.decisions.append(int(outcome.summary.decision_code))

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def mean_decision(self) -> float | None:
        return sum(self.decisions) / len(self.decisions) if self.decisions else None

    @property
    def causes(self) -> tuple[ErrorCause, ...]:
        """Most frequent first."""
        latest = {error.code: error.message for error in sorted(self.errors, key=lambda error: error.created_at)}
        counts = Counter(error.code for error in self.errors)
        return tuple(ErrorCause(code, count, latest[code]) for code, count in counts.most_common())


def sample_targets(plan: Plan, outcomes: Iterable[Outcome]) -> Sequence[TargetSample]:
    """The samples of each target, in the plan's order."""
    samples = [TargetSample() for _ in plan.targets]
    for outcome in outcomes:
        samples[plan.probe(outcome.probe_index).target].add(outcome)
    return samples
