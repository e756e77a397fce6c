"""Compares answers to the same case: which target, asked by which prompt, gave the best one.

A judge compares the answers (select-best), or the scores of their other checks are compared (max-score). A selection is
made once for each case, repeat and such assertion. It is stored before it is applied to the transcripts, so that a
crash in between neither calls the judge again nor produces two winners.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.assertions import COMPARISONS, SELECT_BEST, Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring, failure_tag
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.counts import count_of

QUOTATION_DELETED = "deleted with one of the compared answers"
"""Replaces a text that may have quoted an answer whose content was deleted."""


@dataclass(frozen=True)
class Selection:
    """Contains the result of one comparison. Without a winner, `error` says why, or no answer was good enough."""

    candidates: tuple[int, ...]
    """The ascending indexes of the completed probes whose answers were compared."""
    retry_round: int
    """The run's retry round at that time; a later round may add candidates."""
    winner: int | None
    reason: str
    error: str | None = None
    spend: Spend = field(default_factory=Spend)
    cause: UnscoredCause | None = None
    """The class of `error`; None without an error."""

    @property
    def billed_probe(self) -> int | None:
        """Return the one probe that the judge's calls are billed to, so that they count once."""
        return next(iter(self.candidates), None)

    def without_content(self) -> "Selection":
        """Return the selection without the judge's reason, which may quote any of the answers."""
        return replace(self, reason=QUOTATION_DELETED, error=self.error and QUOTATION_DELETED)


def comparisons(assertions: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Return the assertions that compare targets; a set cannot contain any."""
    return tuple(assertion for assertion in assertions if assertion.kind in COMPARISONS)


def sibling_probes(plan: Plan, index: int) -> tuple[int, ...]:
    """Return the probe indexes of the same case and repeat, one per column, ascending."""
    probe = plan.probe(index)
    return tuple(plan.index(probe._replace(column=column)) for column in range(len(plan.columns)))


def assertion_result(selection: Selection, assertion: Assertion, index: int) -> AssertionResult:
    check, error, cause = (assertion.weight, assertion.metric), selection.error, selection.cause
    if error is None and index not in selection.candidates:
        error, cause = "completed after the answers were compared", UnscoredCause(UnscoredCode.INPUT)
    if error is not None:
        return AssertionResult(assertion.type, None, None, selection.reason, *check, error=error, cause=cause)
    won, others = selection.winner == index, len(selection.candidates) - 1
    if won:
        which = f"better than {count_of(others, 'other answer')}"
    else:
        which = f"{'none' if selection.winner is None else 'another'} of {others + 1} answers is better"
    reason = f"{which}: {selection.reason}" if others else selection.reason
    tag = None if won else failure_tag(assertion)
    return AssertionResult(assertion.type, won, float(won), reason, *check, tag=tag)


def is_found_best(scoring: Scoring) -> bool:
    return any(result.type in COMPARISONS and result.passed for result in scoring.results)


def without_quotations(scoring: Scoring) -> Scoring:
    """Return the scoring without the reasons of its select-best results, which may quote other targets' answers."""
    quoting = [result for result in scoring.results if result.type == SELECT_BEST]
    redacted = [
        replace(result, reason=QUOTATION_DELETED, error=result.error and QUOTATION_DELETED) for result in quoting
    ]
    return with_selection_results(scoring, redacted) if quoting else scoring


def with_selection_results(scoring: Scoring | None, results: Sequence[AssertionResult]) -> Scoring:
    before, types = scoring or build_scoring(None, None, ()), {result.type for result in results}
    other_results = [result for result in before.results if result.type not in types]
    # The judge's outcome is already among the results.
    after = build_scoring(None, None, (*other_results, *results), before.evaluator_note, before.left_out)
    return replace(after, verdict=before.verdict)
