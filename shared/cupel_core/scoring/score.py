"""The assertions of a conversation: each computed, negated and weighed, the slow ones at the same time."""

from asyncio import Task, TaskGroup
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.domain.scoring.assertion_rules import KINDS, SELECT_BEST, SET
from cupel_core.domain.scoring.assertion_values import render
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, flat
from cupel_core.domain.scoring.scoring import combine, tag_of
from cupel_core.domain.turns.conversation import Spend
from cupel_core.errors import Invalid
from cupel_core.grading.graders import Panel
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring import formats, response_metrics, texts
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Ledger, Outcome, Uncomputable

if TYPE_CHECKING:
    from cupel_core.scoring.external_evaluators import External

type Check = Callable[[Assertion, Evidence], Outcome]

CHECKS: Mapping[str, Check] = {
    "equals": texts.equals,
    "contains": texts.contains,
    "icontains": texts.icontains,
    "contains-any": texts.contains_any,
    "icontains-any": texts.icontains_any,
    "contains-all": texts.contains_all,
    "icontains-all": texts.icontains_all,
    "starts-with": texts.starts_with,
    "regex": texts.regex,
    "word-count": texts.word_count,
    "levenshtein": texts.levenshtein,
    "rouge-n": texts.rouge_n,
    "bleu": texts.bleu,
    "is-json": formats.is_json,
    "contains-json": formats.contains_json,
    "is-xml": formats.is_xml,
    "contains-xml": formats.contains_xml,
    "latency": response_metrics.latency,
    "cost": response_metrics.cost,
    "finish-reason": response_metrics.finish_reason,
    "is-refusal": response_metrics.is_refusal,
}


class Scored(NamedTuple):
    """In the order of the assertions, those of an external evaluator last."""

    results: tuple[AssertionResult, ...]
    spend: Spend
    """Of the models that judged and embedded."""
    evaluator_note: str | None = None


async def score(assertions: Sequence[Assertion], evidence: Evidence, panel: Panel) -> Scored:
    """What cannot be computed is a result with an error. PleaseWait and Halted pass through.

    select-best has no result here: it compares the outputs of several models (`judged.select_best`).
    """
    ledger: Ledger = []
    external, results = await _together(_ask_outside(evidence, panel), _results(assertions, evidence, panel, ledger))
    outside = external.results if external else ()
    return Scored((*results, *outside), sum(ledger, Spend()), external and external.note)


def asks_a_model(assertion: Assertion) -> bool:
    """Whether computing it calls a model, or one of its parts does."""
    kinds = [KINDS[each.kind] for each in flat((assertion,)) if each.kind in KINDS]
    return any(kind.is_judged or kind.is_embedded for kind in kinds)


async def _ask_outside(evidence: Evidence, panel: Panel) -> "External | None":
    url = panel.evaluation.evaluator_url
    if url is None:
        return None
    from cupel_core.scoring.external_evaluators import evaluate_outside

    return await evaluate_outside(url, panel.evaluator_headers, evidence, allow_private=panel.allow_private)


async def _results(
    assertions: Sequence[Assertion], evidence: Evidence, panel: Panel, ledger: Ledger
) -> list[AssertionResult]:
    asked = [assertion for assertion in assertions if assertion.kind != SELECT_BEST]
    return await _together(*(_result(assertion, evidence, panel, ledger) for assertion in asked))


async def _result(assertion: Assertion, evidence: Evidence, panel: Panel, ledger: Ledger) -> AssertionResult:
    if assertion.kind == SET:
        return _of_set(assertion, await _results(assertion.parts, evidence, panel, ledger))
    try:
        outcome = await _compute(_rendered(assertion, evidence), evidence, panel, ledger)
    except (Uncomputable, Invalid, ProviderError) as error:
        return _broken(assertion, str(error))
    return _weighed(assertion, outcome)


def _rendered(assertion: Assertion, evidence: Evidence) -> Assertion:
    try:
        value = render(assertion.value, evidence.variables)
    except ValueError as error:
        raise Uncomputable(str(error)) from None
    kind = KINDS.get(assertion.kind)
    if kind is None:
        raise Uncomputable(f"there is no assertion {assertion.type}")
    if why := kind.value(value):
        raise Uncomputable(f"its value {why}")
    return replace(assertion, value=value)


async def _compute(assertion: Assertion, evidence: Evidence, panel: Panel, ledger: Ledger) -> Outcome:
    check = CHECKS.get(assertion.kind)
    if check is not None:
        return check(assertion, evidence)
    from cupel_core.scoring.registry import JUDGEMENTS  # a cold start is shorter without

    return await JUDGEMENTS[assertion.kind](assertion, evidence, panel, ledger)


def _weighed(assertion: Assertion, outcome: Outcome) -> AssertionResult:
    passed = outcome.passed is not assertion.negated
    return AssertionResult(
        type=assertion.type,
        passed=passed,
        score=1 - outcome.score if assertion.negated else outcome.score,
        reason=outcome.reason,
        weight=assertion.weight,
        metric=assertion.metric,
        tag=None if passed else tag_of(assertion),
    )


def _broken(assertion: Assertion, error: str) -> AssertionResult:
    return AssertionResult(
        type=assertion.type,
        passed=None,
        score=None,
        reason="could not be computed",
        weight=assertion.weight,
        metric=assertion.metric,
        error=error,
    )


def _of_set(assertion: Assertion, parts: Sequence[AssertionResult]) -> AssertionResult:
    whole = combine(parts, assertion.threshold)
    if whole.passed is None or whole.score is None:
        # Where nothing in it weighs, neither does the set.
        weight = assertion.weight if any(part.weight > 0 for part in parts) else 0.0
        return replace(_broken(assertion, whole.reason), weight=weight, parts=tuple(parts))
    return replace(_weighed(assertion, Outcome(whole.passed, whole.score, whole.reason)), parts=tuple(parts))


async def _together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """As gather, but the first that fails ends the others, which may cost money."""
    try:
        async with TaskGroup() as group:
            tasks: list[Task[Any]] = [group.create_task(each) for each in work]
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    return [task.result() for task in tasks]
