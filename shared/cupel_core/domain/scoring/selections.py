"""select-best: which of the answers that several targets gave to the same case is the best one.

A contest is held once for each case, repeat and select-best assertion. What came of it is kept before it is applied to
the transcripts, so that a crash in between neither pays the judge again nor makes two winners.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.assertion_rules import SELECT_BEST
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, conclude, tag_of
from cupel_core.domain.turns.conversation import Spend


@dataclass(frozen=True)
class Contest:
    """What came of one; without a winner, `error` says why."""

    entrants: tuple[int, ...]
    """The probes whose answers were compared, ascending: those that completed."""
    generation: int
    """Of the run, when it was held: a retry may bring further entrants."""
    winner: int | None
    reason: str
    error: str | None = None
    spend: Spend = field(default_factory=Spend)

    @property
    def payer(self) -> int:
        """The probe at which the judge's calls are counted: one of them, so that they are counted once."""
        return self.entrants[0]

    def to_json(self) -> dict[str, Any]:
        return {
            "entrants": list(self.entrants),
            "generation": self.generation,
            "winner": self.winner,
            "reason": self.reason,
            "error": self.error,
            "spend": self.spend.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Contest":
        return cls(**{**data, "entrants": tuple(data["entrants"]), "spend": Spend.from_json(data["spend"])})


def contested(assertions: Sequence[Assertion]) -> tuple[Assertion, ...]:
    """Those that compare targets; inside of a set none does."""
    return tuple(assertion for assertion in assertions if assertion.kind == SELECT_BEST)


def rivals(plan: Plan, index: int) -> tuple[int, ...]:
    """The probes of the same case and repeat, one for each target, ascending."""
    probe = plan.probe(index)
    return tuple(plan.index(probe._replace(target=target)) for target in range(len(plan.targets)))


def result_of(contest: Contest, assertion: Assertion, index: int) -> AssertionResult:
    """What it means for one of the targets' probes."""
    result = AssertionResult(
        assertion.type, None, None, contest.reason, assertion.weight, assertion.metric, error=contest.error
    )
    if contest.winner is None:
        return result
    if index not in contest.entrants:
        return replace(result, error="came after the answers were compared")
    won, others = contest.winner == index, len(contest.entrants) - 1
    which = f"better than {others} other answers" if won else f"another of {others + 1} answers is better"
    return replace(
        result,
        passed=won,
        score=float(won),
        reason=f"{which}: {contest.reason}" if others else contest.reason,
        tag=None if won else tag_of(assertion),
    )


def reconclude(scoring: Scoring | None, results: Sequence[AssertionResult]) -> Scoring:
    """With these results of contests, in place of those that it had."""
    before = scoring or conclude(None, None, ())
    kept = [result for result in before.results if result.type != SELECT_BEST]
    # The judge's ruling is among the results already.
    after = conclude(None, None, (*kept, *results), before.evaluator_note)
    return replace(after, verdict=before.verdict)
