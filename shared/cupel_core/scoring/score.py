"""Computes the assertions of a conversation: each is evaluated, negated and weighted, the slow ones concurrently."""

from asyncio import gather
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core import sandbox
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.conversation import AssertionGrade
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertion_rules import (
    ASSERT_SET,
    ASSERTION_KINDS,
    CODE_KINDS,
    CODE_REFUSED,
    SCORING_FUNCTION,
    VALUE_FUNCTION,
    value_error,
)
from cupel_core.domain.scoring.assertion_values import render_variables
from cupel_core.domain.scoring.assertions import COMPARISONS, Assertion, AssertionResult, flatten
from cupel_core.domain.scoring.scoring import combine, failure_tag, first_uncomputed, metrics
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.javascript_values import as_text
from cupel_core.domain.text.storable import storable
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.assertion_context import AssertionContext, ShortConversation
from cupel_core.scoring.check_result import CheckResult, CodeFailed, NotComputable, SpendLog, TransformFailed
from cupel_core.scoring.checks import CHECKS, compute_bounded
from cupel_core.scoring.grade_log import GradeLog
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.templated import TEMPLATED, render_value

if TYPE_CHECKING:
    from cupel_core.scoring.code_assertions import CodeRunner
    from cupel_core.scoring.external_evaluators import ExternalResults

MAX_SHOWN_TRANSFORM = 200
MAX_REASON_LENGTH = 5_000
"""The limit is in characters; a reason may quote an output, a judge or a server."""


class AssertionScores(NamedTuple):
    """`results` are in the order of the assertions, followed by those of an external evaluator."""

    results: tuple[AssertionResult, ...]
    spend: Spend
    evaluator_note: str | None = None


async def score(
    assertions: Sequence[Assertion],
    context: AssertionContext,
    graders: GraderFactory,
    log: GradeLog | None = None,
    code_runner: "CodeRunner | None" = None,
) -> AssertionScores:
    """Compute all assertions but those that a model has graded according to `log`; new grades are added to it.

    An assertion that cannot be computed has a result with an error. RetryLater, and whatever stops a grader's call
    (Halted, TimeIsUp), pass through once the calls in flight have ended and are in `log`. Comparisons have no result
    here, because they need the outputs of several models (`cupel_core/scoring/selections.py`). Without `code_runner`,
    code is not run.
    """
    sandbox.use_workspace(graders.workspace)
    scorer = _Scorer(replace(context, assertions=tuple(assertions)), graders, log or GradeLog(), code_runner)
    external, results = await _gather(_evaluate_externally(context, graders), scorer.results(assertions))
    external_results = external.results if external else ()
    return AssertionScores((*results, *external_results), scorer.log.spend, external and external.note)


def needs_model(assertion: Assertion) -> bool:
    kinds = [ASSERTION_KINDS[part.kind] for part in flatten((assertion,)) if part.kind in ASSERTION_KINDS]
    return any(kind.needs_judge or kind.needs_embedder for kind in kinds)


async def _evaluate_externally(context: AssertionContext, graders: GraderFactory) -> "ExternalResults | None":
    url = graders.config.evaluator_url
    if url is None:
        return None
    from cupel_core.scoring.external_evaluators import evaluate_externally

    return await evaluate_externally(url, graders.evaluator_headers, context, allow_private=graders.allow_private)


@dataclass(frozen=True)
class _Scorer:
    context: AssertionContext
    graders: GraderFactory
    log: GradeLog
    code_runner: "CodeRunner | None"

    async def results(self, assertions: Sequence[Assertion], prefix: str = "") -> list[AssertionResult]:
        computable = [
            (f"{prefix}{position}", assertion)
            for position, assertion in enumerate(assertions)
            if assertion.kind not in COMPARISONS
        ]
        return await _gather(*(self._result(path, assertion) for path, assertion in computable))

    async def _result(self, path: str, assertion: Assertion) -> AssertionResult:
        if assertion.kind == ASSERT_SET:
            return await self._scored_set(assertion, await self.results(assertion.parts, f"{path}."))
        return await (self._graded(path, assertion) if needs_model(assertion) else self._computed(assertion, []))

    async def _graded(self, path: str, assertion: Assertion) -> AssertionResult:
        if path not in self.log.grades:
            spend_log: SpendLog = []
            try:
                result = await self._computed(assertion, spend_log)
            except BaseException:  # Also Halted and CancelledError: what was asked before was paid for.
                self.log.add_interrupted(spend_log)
                raise
            self.log.add(path, AssertionGrade(result, sum(spend_log, Spend())))
        return self.log.grades[path].result

    async def _computed(self, assertion: Assertion, spend_log: SpendLog) -> AssertionResult:
        try:
            context = await _context_of(assertion, self.context, self.code_runner)
            check_result = await self._compute(await self._with_value(assertion, context), context, spend_log)
        except TransformFailed as error:
            return _failed_result(assertion, f"{_shown(' | '.join(assertion.transforms))}: {error}")
        except CodeFailed as error:
            return _failed_result(assertion, str(error))
        except sandbox.LimitExceeded as error:
            return _error_result(assertion, f"computing it {error}", UnscoredCause(UnscoredCode.LIMIT))
        except GraderError as error:
            return replace(_error_result(assertion, str(error), error.cause), unusable_reply=error.unusable_reply)
        except (NotComputable, sandbox.ExpressionError, Invalid, ProviderError) as error:
            return _error_result(assertion, str(error), cause_of(error))
        return _to_result(assertion, check_result)

    async def _with_value(self, assertion: Assertion, context: AssertionContext) -> Assertion:
        function = (assertion.config or {}).get(VALUE_FUNCTION)
        if function is None or assertion.kind in CODE_KINDS:
            return _render(assertion, context)
        from cupel_core.scoring.code_assertions import value_by_code  # only in process

        value = await value_by_code(function, assertion, context, self._required_runner)
        return replace(assertion, value=_usable(value, assertion))

    async def _compute(self, assertion: Assertion, context: AssertionContext, spend_log: SpendLog) -> CheckResult:
        if assertion.kind in CHECKS:
            return await compute_bounded(assertion, context)
        if assertion.kind in CODE_KINDS:
            from cupel_core.scoring.code_assertions import check_by_code  # only in process

            return await check_by_code(assertion, context, self._required_runner)
        from cupel_core.scoring.registry import GRADED_CHECKS  # shortens a cold start

        return await GRADED_CHECKS[assertion.kind](assertion, context, self.graders, spend_log)

    async def _scored_set(self, assertion: Assertion, parts: Sequence[AssertionResult]) -> AssertionResult:
        function = (assertion.config or {}).get(SCORING_FUNCTION)
        if function is None:
            return _set_result(assertion, parts)
        from cupel_core.scoring.code_assertions import score_by_code  # only in process

        try:
            named = metrics(parts)
            combined = await score_by_code(function, named, parts, assertion.threshold, self._required_runner)
        except CodeFailed as error:
            return replace(_failed_result(assertion, str(error)), parts=tuple(parts))
        except NotComputable as error:
            return replace(_error_result(assertion, str(error), error.cause), parts=tuple(parts))
        return replace(_to_result(assertion, combined), parts=(*parts, *combined.parts))

    @property
    def _required_runner(self) -> "CodeRunner":
        if self.code_runner is None:
            raise NotComputable(CODE_REFUSED, UnscoredCode.CODE)
        return self.code_runner


def _shown(transform: str) -> str:
    return transform if len(transform) <= MAX_SHOWN_TRANSFORM else f"{transform[:MAX_SHOWN_TRANSFORM]}…"


async def _context_of(
    assertion: Assertion, context: AssertionContext, code_runner: "CodeRunner | None"
) -> AssertionContext:
    """Return the answer that the assertion is about, after its transforms. Raises TransformFailed."""
    try:
        if assertion.turn is not None:
            context = context.at_turn(assertion.turn)
        if assertion.kind not in TEMPLATED:
            context = context.with_structure
    except ShortConversation as error:
        raise NotComputable(str(error)) from None
    for transform in assertion.transforms:
        value = await _transformed(transform, context, code_runner)
        parsed = None if isinstance(value, str) else value
        context = replace(context, output=as_text(value), value=parsed, is_transformed=True)
    return context


async def _transformed(transform: str, context: AssertionContext, code_runner: "CodeRunner | None") -> Any:
    """Apply the transform. It runs as code if it is not in the supported JavaScript and code is allowed."""
    if code_runner is not None:
        from cupel_core.domain.scoring.output_transforms import transform_error
        from cupel_core.scoring.code_assertions import transform_by_code  # only in process

        if transform_error(transform):
            return await transform_by_code(transform, context, code_runner)
    from cupel_core.scoring.transforms import transformed  # imports regex, which few assertions need

    return await transformed(transform, context.answer)


def _render(assertion: Assertion, context: AssertionContext) -> Assertion:
    if assertion.kind in TEMPLATED:
        return _render_templates(assertion, context)
    try:
        value = render_variables(assertion.value, context.variables)
    except ValueError as error:
        raise NotComputable(str(error)) from None
    if assertion.kind not in ASSERTION_KINDS and assertion.kind not in CODE_KINDS:
        raise NotComputable(f'unknown assertion type "{assertion.type}"', UnscoredCode.ASSERTION)
    return replace(assertion, value=_usable(value, assertion))


def _usable(value: Any, assertion: Assertion) -> Any:
    if why := value_error(assertion.kind, value, assertion.config):
        raise NotComputable(f"its value {why}", UnscoredCode.ASSERTION)
    return value


def _render_templates(assertion: Assertion, context: AssertionContext) -> Assertion:
    if why := value_error(assertion.kind, assertion.value, assertion.config):
        raise NotComputable(f"its value {why}", UnscoredCode.ASSERTION)
    try:
        return replace(assertion, value=render_value(assertion.value, context))
    except ValueError as error:
        raise NotComputable(str(error)) from None


def _to_result(assertion: Assertion, check_result: CheckResult) -> AssertionResult:
    passed = check_result.passed is not assertion.negated
    return AssertionResult(
        type=assertion.type,
        passed=passed,
        score=1 - check_result.score if assertion.negated else check_result.score,
        reason=storable(_of_turn(assertion, check_result.reason), MAX_REASON_LENGTH),
        weight=assertion.weight,
        metric=assertion.metric,
        tag=None if passed else failure_tag(assertion),
        parts=check_result.parts,
        judge_reply=check_result.judge_reply,
    )


def _failed_result(assertion: Assertion, why: str) -> AssertionResult:
    """Return a failure, negated or not, because the answer does not have the form in which it is checked."""
    failed = _to_result(replace(assertion, negated=False), CheckResult(False, 0.0, why))
    return replace(failed, type=assertion.type)


def cause_of(error: Exception) -> UnscoredCause:
    """Return why an assertion has no result if its computation ended with this error."""
    if isinstance(error, NotComputable):
        return error.cause
    if isinstance(error, ProviderError):
        return error.cause or UnscoredCause(UnscoredCode.JUDGE_FAILED, None, str(error.code))
    if isinstance(error, Invalid):
        return UnscoredCause(UnscoredCode.NO_JUDGE)
    return UnscoredCause(UnscoredCode.ASSERTION if isinstance(error, sandbox.ExpressionError) else UnscoredCode.INPUT)


def _error_result(assertion: Assertion, error: str, cause: UnscoredCause) -> AssertionResult:
    text = storable(_of_turn(assertion, error), MAX_REASON_LENGTH)
    return AssertionResult.uncomputed(assertion.type, text, cause, assertion.weight, assertion.metric)


def _of_turn(assertion: Assertion, text: str) -> str:
    return text if assertion.turn is None else f"answer {assertion.turn}: {text}"


def _set_result(assertion: Assertion, parts: Sequence[AssertionResult]) -> AssertionResult:
    combined = combine(parts, assertion.threshold)
    if combined.passed is None or combined.score is None:
        uncomputed = first_uncomputed(parts)
        cause = (uncomputed and uncomputed.cause) or UnscoredCause(UnscoredCode.ASSERTION)
        return replace(_error_result(assertion, combined.reason, cause), parts=tuple(parts))
    return replace(
        _to_result(assertion, CheckResult(combined.passed, combined.score, combined.reason)), parts=tuple(parts)
    )


async def _gather(*coroutines: Coroutine[Any, Any, Any]) -> list[Any]:
    """Return all results; the first failure is raised when the others have ended, because their calls are paid for.
    Whatever stops one grader's calls also stops the others', so that no further call starts meanwhile."""
    results = await gather(*coroutines, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
