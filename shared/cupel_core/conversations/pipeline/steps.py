"""Operations of one hook: their execution in order, their values, and their texts in the record of a turn."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from typing import Any

from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.deferred import dataclass, replace
from cupel_core.conversations.pipeline.kinds import Context, ModelCaller, OperationFailed, make_value
from cupel_core.conversations.pipeline.kinds.call_summaries import without_texts
from cupel_core.conversations.pipeline.rendering import render_template
from cupel_core.domain.pipeline.artifacts import ArtifactFormat, ArtifactPersistence
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.profiles import ExecutionMode
from cupel_core.domain.pipeline.results import (
    MAX_ERROR_LENGTH,
    EffectText,
    PaidAnswer,
    SkipReason,
    StepErrorCode,
    StepResult,
    StepStatus,
)
from cupel_core.domain.pipeline.sizes import MAX_STATE_LENGTH, value_length
from cupel_core.domain.pipeline.steps import HookSteps, Results, ready_steps, settle
from cupel_core.domain.pipeline.turns import StoredArtifact, written_value
from cupel_core.domain.text.storable import storable
from cupel_core.providers.call_time import start_timer
from cupel_core.sandbox.templating.errors import RenderError

MAX_VALUE_LENGTH = 200_000
"""An artifact's value has at most this many characters."""
MAX_PAYLOAD_LENGTH = 100_000


type PerformStep = Callable[[ProfileOperation, Results], Coroutine[Any, Any, StepResult]]
type OnPaid = Callable[[Results, Mapping[str, PaidAnswer]], Awaitable[None]]


async def perform_step(
    operation: ProfileOperation, context: Context, stored: StoredArtifact | None, caller: ModelCaller
) -> StepResult:
    """Return the result, which may be a failure. It raises only exceptions that prevent or postpone a call."""
    timer, started_at = start_timer(), to_iso(utc_now())
    result = await _perform(operation, context, stored, caller)
    return result.timed(started_at, timer.duration_ms)


async def _perform(
    operation: ProfileOperation, context: Context, stored: StoredArtifact | None, caller: ModelCaller
) -> StepResult:
    try:
        made = await make_value(operation, context, caller)
    except OperationFailed as failure:
        return StepResult.failed(failure.code, failure.message, failure.spend, failure.call)
    if made.value is None and operation.artifact.format is not ArtifactFormat.JSON:
        return StepResult.skipped(SkipReason.CONDITION_FALSE)
    value = written_value(operation.artifact, made.value, stored)
    if value_length(value) > MAX_VALUE_LENGTH:
        message = f"the artifact would have more than {MAX_VALUE_LENGTH:,} characters"
        return StepResult.failed(StepErrorCode.VALIDATION_ERROR, message, made.spend, made.call)
    inclusion = operation.artifact.inclusion
    return StepResult(
        StepStatus.DONE,
        value,
        tuple([await _payload(each.template, made.value, context) for each in operation.effects]),
        await _payload(inclusion.template, value, context) if inclusion else None,
        spend=made.spend,
        call=made.call,
    )


def within_share(operation: ProfileOperation, result: StepResult, share: int) -> StepResult:
    """Return the result, or an error if it adds more than `share` characters to the conversation. The texts of its call
    are removed from its record first."""
    texts = (*result.payloads, *([result.inclusion] if result.inclusion else []))
    # A persisted value is also in the record of the turn.
    copies = 2 if operation.artifact.persistence is ArtifactPersistence.PERSISTED else 1
    length = copies * value_length(result.value) + sum(len(each.text) for each in texts)
    if length + value_length(result.call) > share:
        result = replace(result, call=without_texts(result.call))
    if length <= share or not result.is_done:
        return result
    message = (
        f"all that the operations of a conversation make may have at most {MAX_STATE_LENGTH:,} characters; this one "
        f"may add {share:,}"
    )
    failed = StepResult.failed(StepErrorCode.VALIDATION_ERROR, message, result.spend, result.call)
    return failed.timed(result.started_at, result.duration_ms)


async def _payload(template: str | None, value: Any, context: Mapping[str, Any]) -> EffectText:
    from cupel_core.sandbox.templating.operation_templates import printed

    try:
        text = printed(value)
        if template is not None:
            text = await render_template(template, {**context, "value": value}, strict=False)
    except RenderError as error:
        return EffectText(error=storable(f"{StepErrorCode.TEMPLATE_RENDER_ERROR}: {error}", MAX_ERROR_LENGTH))
    if len(text) > MAX_PAYLOAD_LENGTH:
        return EffectText(error=f"{StepErrorCode.VALIDATION_ERROR}: longer than {MAX_PAYLOAD_LENGTH:,} characters")
    return EffectText(text)


@dataclass
class HookExecution:
    """Executes as many operations at a time as the mode allows, each once its dependencies are done. `on_paid` stores
    the results after a call that was paid for, before any dependent operation starts."""

    steps: HookSteps
    mode: ExecutionMode
    perform: PerformStep
    on_paid: OnPaid
    results: dict[str, StepResult] = field(default_factory=dict)
    """Operations whose results an earlier attempt has recorded are not executed again."""
    answers: dict[str, PaidAnswer] = field(default_factory=dict)
    """The answers that models gave to `perform`, also in an earlier attempt. Not all have become results."""
    _running: dict[str, asyncio.Task[StepResult]] = field(default_factory=dict, init=False)

    async def run(self) -> Results:
        """Return the results of all operations. An exception that prevents or postpones a call passes through, once
        every call in flight has ended and its cost is stored."""
        try:
            while self._start_next():
                if not any(task.done() for task in self._running.values()):
                    await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)
                await self._collect()
        except BaseException:
            await self._drain()
            raise
        return self.results

    def _start_next(self) -> bool:
        self.results = settle(self.steps, self.results)
        loop = asyncio.get_running_loop()
        for step in ready_steps(self.steps, self.results, self._running.keys(), self.mode):
            # Most operations only render a template: such a task has ended when it is made.
            self._running[step.id] = asyncio.Task(self.perform(step, self.results), loop=loop, eager_start=True)
        return bool(self._running)

    async def _collect(self) -> None:
        """Record the operations that have ended. Raise the exception that prevented one of them."""
        ended = [name for name, task in self._running.items() if task.done()]
        tasks = {name: self._running.pop(name) for name in ended}
        made = {name: task.result() for name, task in tasks.items() if not task.cancelled() and not task.exception()}
        self.results |= made
        if any(result.spend.has_calls for result in made.values()):
            await self.on_paid(self.results, self.answers)
        for task in tasks.values():
            task.result()

    async def _drain(self) -> None:
        """Wait until the calls in flight end and are stored, as they may be paid for, unless this task is cancelled
        itself."""
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            for task in self._running.values():
                task.cancel()
        if self._running:
            await asyncio.wait(self._running.values())
        paid = {name: task.result() for name, task in self._running.items() if _has_result(task)}
        self._running.clear()
        self.results |= paid
        if any(result.spend.has_calls for result in paid.values()) or self.answers.keys() - self.results.keys():
            await self.on_paid(self.results, self.answers)


def _has_result(task: asyncio.Task[StepResult]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
