"""Answers to the calls of a target's reply: by scripts, by an executor, or with an error for the model.

Executed calls are checkpointed soon after they were answered, so after a crash at most the calls then in flight, or
answered within the last second, are executed again, with the same ids.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from cupel_core.base.deferred import dataclass
from cupel_core.conversations.delayed_saver import DELAY_SECONDS, DelayedSaver
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.tool_results import (
    ArgumentsError,
    ScriptedResult,
    ScriptedResults,
    ToolOutcome,
    arguments_of,
    executed_calls,
    unknown_call_error,
)
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.text.storable import storable
from cupel_core.providers.errors import ProviderError

MAX_CONCURRENT_CALLS = 8
"""One reply's calls are executed this many at a time."""


class ToolError(ProviderError):
    """The executor could not be called, or gave no usable answer. This says nothing about the target."""

    title = "A tool could not be executed"

    def __init__(self, message: str, attempts: int = 1) -> None:
        super().__init__(ProbeErrorCode.TOOL_ERROR, message, attempts=attempts)


class ToolExecutor(Protocol):
    """Executes calls of tools, in this process or elsewhere. It raises ToolError if that failed for reasons other than
    the call itself. RetryLater and exceptions of a guard pass through."""

    async def __call__(self, call: ToolCall, arguments: dict[str, Any]) -> ToolOutcome | None:
        """Return the result for the model, or None if this executor does not answer the call."""
        ...


@dataclass(frozen=True)
class ToolExecution:
    scripts: Sequence[ScriptedResult]
    offered: Collection[str]
    """Names of the tools that the model was given. It is empty if an agent has its own."""
    executor: ToolExecutor | None
    save: Callable[[ConversationState], Awaitable[None]]
    save_delay_seconds: float = DELAY_SECONDS

    async def perform(self, state: ConversationState) -> ConversationState:
        """Return the state with a result for every pending call. If one cannot be executed, those that are in progress
        are completed and saved, and its error is raised."""
        current = state

        async def save() -> None:
            await self.save(current)

        async def answer(call: ToolCall, scripted: ToolOutcome | None) -> None:
            nonlocal current
            outcome = await self._outcome(call, scripted)
            current = _with_result(current, call, outcome)
            saver.note_change()

        saver = DelayedSaver(save, self.save_delay_seconds)
        scripts = ScriptedResults(self.scripts, executed_calls(state.messages, state.target_calls))
        try:
            while calls := current.pending_calls[:MAX_CONCURRENT_CALLS]:
                answers = [answer(call, scripts.answer(call)) for call in calls]
                _raise_first(await asyncio.gather(*answers, return_exceptions=True))
        except BaseException:  # This includes Halted and CancelledError: an executed call must not be executed again.
            await saver.flush()
            raise
        finally:
            await saver.stop()
        return current

    async def _outcome(self, call: ToolCall, scripted: ToolOutcome | None) -> ToolOutcome:
        if scripted is not None:
            return scripted
        try:
            arguments = arguments_of(call)
        except ArgumentsError as error:
            return ToolOutcome(str(error), is_error=True)
        is_offered = not self.offered or call.name in self.offered
        executed = await self.executor(call, arguments) if self.executor is not None and is_offered else None
        return executed or ToolOutcome(unknown_call_error(call.name, self.offered), is_error=True)


def _raise_first(results: Iterable[BaseException | None]) -> None:
    for error in results:
        if error is not None:
            raise error


def _with_result(state: ConversationState, call: ToolCall, outcome: ToolOutcome) -> ConversationState:
    content = storable(outcome.content)
    return state.with_result(Message(MessageRole.TOOL, content, tool_call_id=call.id, is_error=outcome.is_error))
