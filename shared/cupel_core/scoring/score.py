"""Computes the assertions of a conversation: each is evaluated, negated and weighted, the slow ones concurrently."""

from asyncio import Task, TaskGroup
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core import sandbox
from cupel_core.domain.scoring.assertion_rules import ASSERT_SET, ASSERTION_KINDS, SELECT_BEST
from cupel_core.domain.scoring.assertion_values import render_variables
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, flatten
from cupel_core.domain.scoring.scoring import combine, failure_tag
from cupel_core.domain.text.storable import storable
from cupel_core.domain.turns.conversation import Spend
from cupel_core.errors import Invalid
from cupel_core.grading.graders import GraderFactory
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, NotComputable, SpendLog
from cupel_core.scoring.checks import CHECKS, compute_bounded

if TYPE_CHECKING:
    from cupel_core.scoring.external_evaluators import ExternalResults

MAX_REASON_LENGTH = 5_000
"""In characters; a reason may quote an output, a judge or a server."""


class AssertionScores(NamedTuple):
    """`results` are in the order of the assertions, followed by those of an external evaluator."""

    results: tuple[AssertionResult, ...]
    spend: Spend
    """The spend of the judge and embedding models."""
    evaluator_note: str | None = None


async def score(assertions: Sequence[Assertion], context: AssertionContext, graders: GraderFactory) -> AssertionScores:
    """Compute all assertions; what cannot be computed is a result with an error.

    RetryLater, and whatever stops a grader's call (Halted, TimeIsUp), pass through. select-best has no result here,
    because it compares the outputs of several models (`selection.py`).
    """
    sandbox.use_workspace(graders.workspace)
    spend_log: SpendLog = []
    external, results = await _gather(
        _evaluate_externally(context, graders), _results(assertions, context, graders, spend_log)
    )
    external_results = external.results if external else ()
    return AssertionScores((*results, *external_results), sum(spend_log, Spend()), external and external.note)


def needs_model(assertion: Assertion) -> bool:
    """Whether computing this assertion, or one of its parts, calls a model."""
    kinds = [ASSERTION_KINDS[part.kind] for part in flatten((assertion,)) if part.kind in ASSERTION_KINDS]
    return any(kind.needs_judge or kind.needs_embedder for kind in kinds)


async def _evaluate_externally(context: AssertionContext, graders: GraderFactory) -> "ExternalResults | None":
    url = graders.config.evaluator_url
    if url is None:
        return None
    from cupel_core.scoring.external_evaluators import evaluate_externally

    return await evaluate_externally(url, graders.evaluator_headers, context, allow_private=graders.allow_private)


async def _results(
    assertions: Sequence[Assertion], context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> list[AssertionResult]:
    computable = [assertion for assertion in assertions if assertion.kind != SELECT_BEST]
    return await _gather(*(_result(assertion, context, graders, spend_log) for assertion in computable))


async def _result(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> AssertionResult:
    if assertion.kind == ASSERT_SET:
        return _set_result(assertion, await _results(assertion.parts, context, graders, spend_log))
    try:
        check_result = await _compute(_render(assertion, context), context, graders, spend_log)
    except sandbox.LimitExceeded as error:
        return _error_result(assertion, f"computing it {error}")
    except (NotComputable, sandbox.ExpressionError, Invalid, ProviderError) as error:
        return _error_result(assertion, str(error))
    return _to_result(assertion, check_result)


def _render(assertion: Assertion, context: AssertionContext) -> Assertion:
    try:
        value = render_variables(assertion.value, context.variables)
    except ValueError as error:
        raise NotComputable(str(error)) from None
    kind = ASSERTION_KINDS.get(assertion.kind)
    if kind is None:
        raise NotComputable(f'unknown assertion type "{assertion.type}"')
    if why := kind.value(value):
        raise NotComputable(f"its value {why}")
    return replace(assertion, value=value)


async def _compute(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    if assertion.kind in CHECKS:
        return await compute_bounded(assertion, context)
    from cupel_core.scoring.registry import GRADED_CHECKS  # shortens a cold start

    return await GRADED_CHECKS[assertion.kind](assertion, context, graders, spend_log)


def _to_result(assertion: Assertion, check_result: CheckResult) -> AssertionResult:
    passed = check_result.passed is not assertion.negated
    return AssertionResult(
        type=assertion.type,
        passed=passed,
        score=1 - check_result.score if assertion.negated else check_result.score,
        reason=storable(check_result.reason, MAX_REASON_LENGTH),
        weight=assertion.weight,
        metric=assertion.metric,
        tag=None if passed else failure_tag(assertion),
    )


def _error_result(assertion: Assertion, error: str) -> AssertionResult:
    return AssertionResult(
        type=assertion.type,
        passed=None,
        score=None,
        reason="could not be computed",
        weight=assertion.weight,
        metric=assertion.metric,
        error=storable(error, MAX_REASON_LENGTH),
    )


def _set_result(assertion: Assertion, parts: Sequence[AssertionResult]) -> AssertionResult:
    combined = combine(parts, assertion.threshold)
    if combined.passed is None or combined.score is None:
        # A set in which nothing has weight has none either.
        weight = assertion.weight if any(part.weight > 0 for part in parts) else 0.0
        return replace(_error_result(assertion, combined.reason), weight=weight, parts=tuple(parts))
    return replace(
        _to_result(assertion, CheckResult(combined.passed, combined.score, combined.reason)), parts=tuple(parts)
    )


async def _gather(*coroutines: Coroutine[Any, Any, Any]) -> list[Any]:
    """Like asyncio.gather, but the first failure cancels the others, which may cost money."""
    try:
        async with TaskGroup() as group:
            tasks: list[Task[Any]] = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    return [task.result() for task in tasks]
