"""What becomes of a conversation: one word on whether it passed, and everything it was made from.

promptfoo's rule: the score is the mean by weight, and all that weighs must pass. What weighs nothing is told and
decides nothing. What could not be computed leaves the whole unscored: it says nothing about a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, Tag
from cupel_core.domain.turns.conversation import Ruling, Verdict

CRITERIA = "criteria"
"""The type of the component that a judge's verdict is."""
_TOLD = 3
"""As many reasons are told."""
_FORMATS = frozenset({"is-json", "contains-json", "is-xml", "contains-xml"})


@dataclass(frozen=True)
class Scoring:
    """`success` and `score` are None when nothing decided, or when something that weighs could not be computed."""

    success: bool | None
    score: float | None
    reason: str
    results: tuple[AssertionResult, ...] = ()
    tags: tuple[str, ...] = ()
    """Of the failures that weigh, each once."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    evaluator_note: str | None = None
    """Why an external evaluator has no part in this, where one was to have."""
    verdict: Verdict | None = None

    def to_json(self) -> dict[str, Any]:
        optional = {"evaluatorNote": self.evaluator_note, "verdict": self.verdict and self.verdict.to_json()}
        return {
            "success": self.success,
            "score": self.score,
            "reason": self.reason,
            "results": [result.to_json() for result in self.results],
            "tags": list(self.tags),
            "metrics": dict(self.metrics),
            **{name: value for name, value in optional.items() if value is not None},
        }

    def digest(self) -> dict[str, Any]:
        """What figures are computed from; what is None or empty is left out."""
        fields = {"success": self.success, "score": self.score, "metrics": dict(self.metrics), "tags": list(self.tags)}
        return {name: value for name, value in fields.items() if value not in (None, {}, [])}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scoring":
        verdict = data.get("verdict")
        return cls(
            success=data["success"],
            score=data["score"],
            reason=data["reason"],
            results=tuple(map(AssertionResult.from_json, data.get("results") or ())),
            tags=tuple(data.get("tags") or ()),
            metrics=data.get("metrics") or {},
            evaluator_note=data.get("evaluatorNote"),
            verdict=Verdict.from_json(verdict) if verdict else None,
        )


class Whole(NamedTuple):
    """What several results are together."""

    passed: bool | None
    score: float | None
    reason: str


def conclude(
    ruling: Ruling | None,
    verdict: Verdict | None,
    results: Sequence[AssertionResult],
    evaluator_note: str | None = None,
) -> Scoring:
    """`ruling` is that of a judged conversation at its end; ValueError while it goes on."""
    components = (*_judged(ruling, verdict), *results)
    whole = combine(components)
    return Scoring(
        success=whole.passed,
        score=whole.score,
        reason=whole.reason,
        results=components,
        tags=tuple(dict.fromkeys(_tags(components))) if whole.passed is False else (),
        metrics=metrics(components),
        evaluator_note=evaluator_note,
        verdict=verdict,
    )


def _judged(ruling: Ruling | None, verdict: Verdict | None) -> Iterator[AssertionResult]:
    if ruling is Ruling.CONTINUE:
        raise ValueError("a conversation that goes on is not scored")
    if ruling is not None:
        passed = ruling is Ruling.PASSED
        reason = verdict.reasoning if verdict else str(ruling)
        yield AssertionResult(CRITERIA, passed, float(passed), reason, tag=None if passed else Tag.GOAL_MISS)


def combine(results: Sequence[AssertionResult], threshold: float | None = None) -> Whole:
    """All that weigh must pass, or their mean reach the threshold where there is one."""
    weighing = [result for result in results if result.weight > 0]
    errors = [f"{result.type}: {result.error}" for result in weighing if result.passed is None]
    if errors:
        return Whole(None, None, f"could not be computed: {_told(errors)}")
    if not weighing:
        return Whole(None, None, "nothing decides" if results else "nothing was asked")
    score = _mean(weighing)
    if threshold is not None:
        passed = score >= threshold
        return Whole(passed, score, f"the score {score:.2f} is {'at least' if passed else 'below'} {threshold:g}")
    failures = [f"{result.type}: {result.reason}" for result in weighing if not result.passed]
    return Whole(not failures, score, _told(failures) if failures else "everything passed")


def _mean(results: Sequence[AssertionResult]) -> float:
    """By weight; by number where all weigh nothing."""
    total = sum(result.weight for result in results)
    shares = [(result.weight / total if total else 1 / len(results), result.score or 0.0) for result in results]
    # Rounding must not lead out of the range, nor keep a threshold of 1 from being reached.
    return round(sum(share * score for share, score in shares), 12)


def _told(reasons: Sequence[str]) -> str:
    more = len(reasons) - _TOLD
    return "; ".join(reasons[:_TOLD]) + (f"; and {more} more" if more > 0 else "")


def metrics(results: Sequence[AssertionResult]) -> dict[str, float]:
    """The mean by weight of what goes under a name, those in sets by the weight of the set too."""
    named: dict[str, list[AssertionResult]] = {}
    for metric, result in _named(results, 1.0):
        named.setdefault(metric, []).append(result)
    return {metric: _mean(each) for metric, each in named.items()}


def _named(results: Sequence[AssertionResult], share: float) -> Iterator[tuple[str, AssertionResult]]:
    for result in results:
        if result.metric and result.score is not None:
            yield result.metric, _weighing(result, result.weight * share)
        for metric, part in _named(result.parts, share * result.weight):
            if metric != result.metric:
                yield metric, part


def _weighing(result: AssertionResult, weight: float) -> AssertionResult:
    return AssertionResult(result.type, result.passed, result.score, "", weight)


def _tags(results: Sequence[AssertionResult]) -> Iterator[str]:
    for failed in (result for result in results if result.weight > 0 and result.passed is False):
        inner = list(_tags(failed.parts))
        yield from chain(inner, () if inner or failed.tag is None else (failed.tag,))


def tag_of(assertion: Assertion) -> str:
    """What kind of failure it is when this one fails."""
    if assertion.tag:
        return assertion.tag
    if assertion.kind == "is-refusal" and assertion.negated:
        return Tag.REFUSAL
    if assertion.kind in _FORMATS:
        return Tag.FORMAT_ERROR
    return Tag.TOXICITY if is_about_toxicity(assertion.metric) else Tag.GOAL_MISS


def is_about_toxicity(name: str | None) -> bool:
    return name is not None and "toxic" in name.casefold()
