"""Computes max-score: which target, asked by which prompt, has the highest score in the other checks of its answer.

Scores are added up in the order of the results, as promptfoo does, so that sums which are equal there are equal here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from cupel_core.domain.scoring.assertion_rules import ASSERT_SET, AVERAGE
from cupel_core.domain.scoring.assertions import COMPARISONS, NOT_COMPUTED, Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.selections import Selection
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode


class _ScoreAggregation(NamedTuple):
    """A type without a weight has the weight 1."""

    method: str
    weights: Mapping[str, float]
    threshold: float | None

    @classmethod
    def of(cls, assertion: Assertion) -> "_ScoreAggregation":
        value = assertion.value or {}
        return cls(value.get("method", AVERAGE), value.get("weights", {}), value.get("threshold"))

    def weight(self, result: AssertionResult) -> float:
        return self.weights.get(result.type, 1.0)

    def score(self, results: Iterable[AssertionResult]) -> float:
        total = total_weight = 0.0
        for result in results:
            total += (result.score or 0.0) * self.weight(result)
            total_weight += self.weight(result)
        if self.method == AVERAGE:
            return total / total_weight if total_weight > 0 else 0.0
        return total


def select_max_score(scorings: Mapping[int, Scoring | None], assertion: Assertion, retry_round: int = 1) -> Selection:
    """Select the answer with the highest score, and the first of equal ones; none if that is below the threshold.
    `scorings` are those of the answers by probe index, ascending. Comparisons, including this one, are ignored."""
    candidates, aggregation = tuple(scorings), _ScoreAggregation.of(assertion)
    results = [tuple(_compared_results(scoring.results)) if scoring else () for scoring in scorings.values()]
    if problem := _problem(results, aggregation):
        error, cause = problem
        return Selection(candidates, retry_round, None, NOT_COMPUTED, error, cause=cause)
    scores = [aggregation.score(each) for each in results]
    highest = max(scores)
    what, second = f"the highest {aggregation.method} of scores is {highest:.3f}", sorted(scores)[-2]
    if aggregation.threshold is not None and highest < aggregation.threshold:
        return Selection(candidates, retry_round, None, f"{what}, below {aggregation.threshold:g}")
    return Selection(candidates, retry_round, candidates[scores.index(highest)], f"{what}, the next is {second:.3f}")


def _compared_results(results: Iterable[AssertionResult]) -> Iterator[AssertionResult]:
    """Yield the results to compare: the parts of a set instead of the set, and what code returns as components. A score
    that code returns for a metric is not a check."""
    for result in results:
        is_set = result.type == ASSERT_SET
        if result.type not in COMPARISONS and not is_set:
            yield result
        yield from _compared_results(part for part in result.parts if is_set or part.metric is None)


def _problem(
    results: Sequence[Sequence[AssertionResult]], aggregation: _ScoreAggregation
) -> tuple[str, UnscoredCause] | None:
    """Return why the answers cannot be compared by these results, with the cause; None if they can."""
    if len(results) < 2:
        error = "there is no other output to compare with: max-score needs two targets that answered"
        return error, UnscoredCause(UnscoredCode.INPUT)
    if not all(results):
        error = "there is no score to compare: max-score needs another assertion"
        return error, UnscoredCause(UnscoredCode.ASSERTION)
    for each in chain.from_iterable(results):
        if each.cause is not None and aggregation.weight(each):
            return f"{each.type} could not be computed for one of the answers", each.cause
    return None
