"""Decides which operations of a hook may start, and which never can. The operations are always in commit order."""

from collections.abc import Collection, Mapping, Sequence

from cupel_core.domain.pipeline.operations import ConditionOperator, ProfileOperation, RunCondition
from cupel_core.domain.pipeline.profiles import ExecutionMode
from cupel_core.domain.pipeline.results import SkipReason, StepErrorCode, StepResult

MAX_CONCURRENT = 8
type HookSteps = Sequence[ProfileOperation]
type Results = Mapping[str, StepResult]


def settle(steps: HookSteps, results: Results) -> dict[str, StepResult]:
    """Add results for the operations that can never start because they are blocked or their conditions do not hold. The
    operations that depend on them follow."""
    settled, ids = dict(results), {step.id for step in steps}
    for step in steps:
        if step.id not in settled and (result := _without_start(step, ids, settled)) is not None:
            settled[step.id] = result
    return settled


def ready_steps(
    steps: HookSteps, results: Results, running: Collection[str], mode: ExecutionMode
) -> tuple[ProfileOperation, ...]:
    """Return the operations to start now, given settled results, with the lowest rank first."""
    limit = 1 if mode is ExecutionMode.SEQUENTIAL else MAX_CONCURRENT
    open_steps = (step for step in steps if step.id not in results and step.id not in running)
    free = [step for step in open_steps if all(_is_done(results, each) for each in step.depends_on)]
    return tuple(sorted(free, key=lambda step: step.rank)[: max(0, limit - len(running))])


def first_failure(steps: HookSteps, results: Results) -> ProfileOperation | None:
    """Return the first required operation, in commit order, that is not done; None if all are. All must have ended."""
    return next((step for step in steps if step.required and _has_failed(results[step.id])), None)


def visible_steps(steps: HookSteps, step: ProfileOperation) -> tuple[ProfileOperation, ...]:
    """Return the direct and indirect dependencies of an operation, in commit order. It sees nothing of other
    operations, so that its result does not depend on their timing."""
    by_id, seen = {each.id: each for each in steps}, set[str]()
    pending = list(step.depends_on)
    while pending:
        name = pending.pop()
        if name not in seen and name in by_id:
            seen.add(name)
            pending += by_id[name].depends_on
    return tuple(each for each in steps if each.id in seen)


def _has_failed(result: StepResult) -> bool:
    """Return whether it is not done, an effect cannot be applied, or the artifact cannot be included."""
    return not result.is_done or result.payload_error is not None


def _without_start(step: ProfileOperation, ids: Collection[str], results: Results) -> StepResult | None:
    for other in step.depends_on:
        if other not in ids:
            return _blocked(step, SkipReason.DEPENDENCY_MISSING, other)
        if other in results and not results[other].is_done:
            return _blocked(step, SkipReason.DEPENDENCY_NOT_DONE, other)
    if not all(_is_done(results, other) for other in step.depends_on):
        return None
    unmet = next((each for each in step.run_conditions if not _is_met(each, results)), None)
    return None if unmet is None else _not_matched(unmet, results)


def _blocked(step: ProfileOperation, reason: SkipReason, other: str) -> StepResult:
    if not step.required:
        return StepResult.skipped(reason, blockedBy=other)
    what = "is not part of the turn" if reason is SkipReason.DEPENDENCY_MISSING else "is not done"
    code, message = StepErrorCode.DEPENDENCY_FAILED, f"{other}, on which it depends, {what}"
    return StepResult.failed(code, message, reason=reason, blockedBy=other)


def _not_matched(condition: RunCondition, results: Results) -> StepResult:
    actual = results[condition.operation_id].value.get(condition.output)
    return StepResult.skipped(
        SkipReason.GUARD_NOT_MATCHED,
        operationId=condition.operation_id,
        output=condition.output,
        operator=condition.operator,
        actual=actual,
    )


def _is_met(condition: RunCondition, results: Results) -> bool:
    value = bool(results[condition.operation_id].value.get(condition.output))
    return value is (condition.operator is ConditionOperator.IS_TRUE)


def _is_done(results: Results, operation_id: str) -> bool:
    return operation_id in results and results[operation_id].is_done
