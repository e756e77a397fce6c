"""Computes the scoring of a conversation: whether it passed, its score, and the underlying results.

This is promptfoo's rule: the score is the weighted mean, and every result with a weight must pass. Results without
weight are reported and decide nothing, so that a conversation which has no other passes with a score of 0. A comparison
with other answers is not part of the mean: the score of an answer that is not selected is 0. If a weighted result could
not be computed, the conversation stays unscored, because that says nothing about the model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import ConversationOutcome, Verdict
from cupel_core.domain.scoring.assertions import COMPARISONS, Assertion, AssertionResult, FailureTag
from cupel_core.domain.scoring.left_out_checks import NOTHING_LEFT, LeftOutChecks
from cupel_core.domain.scoring.unscored import UnscoredCause

CRITERIA = "criteria"
"""The result type of a judge's verdict."""
_MAX_REASONS = 3
"""The reason of a combined result includes at most this many reasons."""
MAX_CHECKS = 20
"""No more results of a conversation than this are counted by name."""
_MAX_CHECK_NAME = 60
_FORMATS = frozenset({"is-json", "contains-json", "is-xml", "contains-xml", "is-html", "contains-html"})


@dataclass(frozen=True)
class Scoring:
    """`success` and `score` are None if nothing decides, or if a weighted result could not be computed."""

    success: bool | None
    score: float | None
    reason: str
    results: tuple[AssertionResult, ...] = ()
    tags: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    metric_weights: Mapping[str, float] = field(default_factory=dict)
    """The total weights of metrics' results that are not 1; derived metrics sum score x weight."""
    evaluator_note: str | None = None
    verdict: Verdict | None = None
    recorded_cause: UnscoredCause | None = None
    """Says why the conversation is unscored, if the results are erased or were not read."""
    left_out: LeftOutChecks = field(default_factory=dict)
    """The import left out these checks of the scenario's author, so they decided nothing."""

    def digest(self) -> dict[str, Any]:
        """Return the fields that a run's statistics need, without None and empty values."""
        fields = {
            "success": self.success,
            "score": self.score,
            "metrics": dict(self.metrics),
            "metricWeights": dict(self.metric_weights),
            "tags": list(self.tags),
            "cause": self.cause and encode(self.cause),
            "checks": check_results(self.results),
            "leftOut": dict(self.left_out),
        }
        return {name: value for name, value in fields.items() if value not in (None, {}, [])}

    @property
    def is_unscored(self) -> bool:
        return self.cause is not None

    @property
    def cause(self) -> UnscoredCause | None:
        """Return the cause of the first weighted result that could not be computed; None if there is none."""
        uncomputed = first_uncomputed(self.results)
        return self.recorded_cause if uncomputed is None else uncomputed.cause

    @property
    def unscored_error(self) -> str | None:
        uncomputed = first_uncomputed(self.results)
        return uncomputed.error if uncomputed else None

    def without_content(self) -> "Scoring":
        """Return what `digest` has, because reasons, errors and the verdict may quote the conversation."""
        return Scoring.from_digest(self.digest())

    @classmethod
    def from_digest(cls, data: Mapping[str, Any]) -> "Scoring":
        return cls(
            success=data.get("success"),
            score=data.get("score"),
            reason="",
            tags=tuple(data.get("tags") or ()),
            metrics=data.get("metrics") or {},
            recorded_cause=decode(UnscoredCause, cause) if (cause := data.get("cause")) else None,
            left_out=data.get("leftOut") or {},
            metric_weights=data.get("metricWeights") or {},
        )


def first_uncomputed(results: Sequence[AssertionResult]) -> AssertionResult | None:
    """Return the first weighted result that could not be computed. Only the first is counted, so that an answer counts
    once."""
    return next((result for result in results if result.passed is None and result.weight > 0), None)


def check_results(results: Sequence[AssertionResult]) -> dict[str, bool | None]:
    """Return whether each passed, by its name in the statistics of graders. Only the first MAX_CHECKS are included,
    with short names, because a run has them once per probe."""
    names = check_names(result.metric or result.type for result in results[:MAX_CHECKS])
    return {name: result.passed for name, result in zip(names, results, strict=False)}


def check_names(names: Iterable[str]) -> list[str]:
    """Return the names of assertions in statistics, from their metrics or types; repeated names are numbered."""
    checks: dict[str, None] = {}
    for full_name in names:
        name = full_name[:_MAX_CHECK_NAME]
        number = 2
        while (numbered := name if number == 2 else f"{name} #{number - 1}") in checks:
            number += 1
        checks[numbered] = None
    return list(checks)


class CombinedResult(NamedTuple):
    passed: bool | None
    score: float | None
    reason: str


def build_scoring(
    outcome: ConversationOutcome | None,
    verdict: Verdict | None,
    results: Sequence[AssertionResult],
    evaluator_note: str | None = None,
    left_out: LeftOutChecks | None = None,
) -> Scoring:
    """Return the scoring from a judged conversation's final outcome, its verdict and assertion results. `left_out` are
    the scenario's. Raises ValueError for a conversation that has not ended."""
    components = (*_criteria_results(outcome, verdict), *results)
    combined = combine(components)
    return Scoring(
        success=combined.passed,
        score=combined.score,
        reason=NOTHING_LEFT if left_out and not components else combined.reason,
        results=components,
        tags=tuple(dict.fromkeys(_tags(components))) if combined.passed is False else (),
        metrics=metrics(components),
        metric_weights=metric_weights(components),
        evaluator_note=evaluator_note,
        verdict=verdict,
        left_out=left_out or {},
    )


def _criteria_results(outcome: ConversationOutcome | None, verdict: Verdict | None) -> Iterator[AssertionResult]:
    if outcome is ConversationOutcome.CONTINUE:
        raise ValueError("a conversation that continues cannot be scored")
    if outcome is not None:
        passed = outcome is ConversationOutcome.PASSED
        reason = verdict.reasoning if verdict else str(outcome)
        yield AssertionResult(CRITERIA, passed, float(passed), reason, tag=None if passed else FailureTag.GOAL_MISS)


def combine(results: Sequence[AssertionResult], threshold: float | None = None) -> CombinedResult:
    """Combine results: every weighted result must pass or, with a threshold, their mean must reach it."""
    weighted = [result for result in results if result.weight > 0]
    errors = [f"{result.type}: {result.error}" for result in weighted if result.passed is None]
    if errors:
        return CombinedResult(None, None, f"could not be computed: {_join_reasons(errors)}")
    if not results:
        return CombinedResult(None, None, "no criteria or assertions")
    score = _combined_score(weighted, len(results))
    if threshold is not None:
        passed = score >= threshold
        return CombinedResult(
            passed, score, f"the score {score:.2f} is {'at least' if passed else 'below'} {threshold:g}"
        )
    failures = [f"{result.type}: {result.reason}" for result in weighted if not result.passed]
    reason = _join_reasons(failures) if failures else "everything passed" if weighted else "no result has a weight"
    return CombinedResult(not failures, score, reason)


def _combined_score(weighted: Sequence[AssertionResult], count: int) -> float:
    """Return the mean, or 0 if the answer was compared and not selected; `count` includes the results without a weight.
    If there are only comparisons, the score is 0 or 1."""
    compared = [result.passed for result in weighted if result.type in COMPARISONS]
    scored = [result for result in weighted if result.type not in COMPARISONS]
    if not all(compared):
        return 0.0
    return _mean(scored) if scored else float(len(compared) == count)


def _mean(results: Sequence[AssertionResult]) -> float:
    """Return the mean by weight, or the plain mean if no result has a weight."""
    total = sum(result.weight for result in results)
    shares = [(result.weight / total if total else 1 / len(results), result.score or 0.0) for result in results]
    # Rounding errors must not leave the range, nor keep a threshold of 1 from being reached.
    return round(sum(share * score for share, score in shares), 12)


def _join_reasons(reasons: Sequence[str]) -> str:
    more = len(reasons) - _MAX_REASONS
    return "; ".join(reasons[:_MAX_REASONS]) + (f"; and {more} more" if more > 0 else "")


def metrics(results: Sequence[AssertionResult]) -> dict[str, float]:
    """Return weighted means by metric name; the weight of a part is multiplied by that of its set."""
    return {metric: _mean(group) for metric, group in _by_metric(results).items()}


def metric_weights(results: Sequence[AssertionResult]) -> dict[str, float]:
    """Return the sums of weights by metric name that are not 1."""
    weights = {metric: sum(result.weight for result in group) for metric, group in _by_metric(results).items()}
    return {metric: weight for metric, weight in weights.items() if weight != 1}


def _by_metric(results: Sequence[AssertionResult]) -> dict[str, list[AssertionResult]]:
    groups: dict[str, list[AssertionResult]] = {}
    for metric, result in _metric_results(results, 1.0):
        groups.setdefault(metric, []).append(result)
    return groups


def _metric_results(results: Sequence[AssertionResult], set_weight: float) -> Iterator[tuple[str, AssertionResult]]:
    for result in results:
        if result.metric and result.score is not None:
            yield result.metric, _with_weight(result, result.weight * set_weight)
        for metric, part in _metric_results(result.parts, set_weight * result.weight):
            if metric != result.metric:
                yield metric, part


def _with_weight(result: AssertionResult, weight: float) -> AssertionResult:
    return AssertionResult(result.type, result.passed, result.score, "", weight)


def _tags(results: Sequence[AssertionResult]) -> Iterator[str]:
    for failed in (result for result in results if result.weight > 0 and result.passed is False):
        inner = list(_tags(failed.parts))
        yield from chain(inner, () if inner or failed.tag is None else (failed.tag,))


def failure_tag(assertion: Assertion) -> str:
    if assertion.tag:
        return assertion.tag
    if assertion.kind == "is-refusal" and assertion.negated:
        return FailureTag.REFUSAL
    if assertion.kind in _FORMATS:
        return FailureTag.FORMAT_ERROR
    return FailureTag.TOXICITY if is_about_toxicity(assertion.metric) else FailureTag.GOAL_MISS


def is_about_toxicity(name: str | None) -> bool:
    return name is not None and "toxic" in name.casefold()
