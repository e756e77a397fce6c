"""Python functions as agents under test: `def agent(messages) -> str`, also async, also with the conversation's thread.

`messages` are `{"role", "content"}` as far as the conversation has come, with a system message if there is one. The
answer is a text, or a mapping whose `content` is the text and whose rest is kept as the agent's `output`. A function
with a second parameter is given the `Thread`: `id` names the conversation, `turn` counts the answers so far.
"""

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError

type Agent = Callable[..., Any]


@dataclass(frozen=True)
class Asking:
    """One attempt at a function's next answer. A sync function is called in a thread, which goes on after a timeout."""

    agent: Agent
    threads: Executor

    async def __call__(self, account: Account, model: str, conversation: Conversation, timeout_seconds: float) -> Reply:
        """Raises ProviderError, also for whatever the function raises: that is no answer, and nobody's bad one."""
        del account, model
        messages = [{"role": str(said.role), "content": said.content} for said in conversation.messages]
        arguments = (messages, conversation.thread) if _takes_thread(self.agent) else (messages,)
        work = asyncio.ensure_future(self._called(arguments))
        try:
            await asyncio.wait({work}, timeout=timeout_seconds)
        finally:
            given_up = work.cancel()
        if given_up:
            raise ProviderError(ErrorCode.TIMEOUT, f"no answer within {timeout_seconds:g} s")
        error = work.exception()
        if error is not None:
            raise _told(error) from error
        return _reply(work.result())

    async def _called(self, arguments: tuple[Any, ...]) -> object:
        call = partial(self.agent, *arguments)
        if _is_async(self.agent):
            return await call()
        answer = await asyncio.get_running_loop().run_in_executor(self.threads, call)
        return await answer if isinstance(answer, Awaitable) else answer


def name_of(agent: Agent) -> str:
    return str(getattr(agent, "__name__", None) or type(agent).__name__)


def _is_async(agent: Agent) -> bool:
    """Also an object whose class makes it callable."""
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(type(agent).__call__)


def _takes_thread(agent: Agent) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(agent).parameters.values()
    return sum(each.kind in kinds and each.default is each.empty for each in parameters) > 1


def _told(error: BaseException) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    *_, last = traceback.extract_tb(error.__traceback__)
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    return ProviderError(ErrorCode.PROVIDER_ERROR, f"{type(error).__name__}: {error} ({where})", final=True)


def _reply(answer: object) -> Reply:
    if isinstance(answer, str):
        return Reply(answer)
    if isinstance(answer, Mapping) and isinstance(answer.get("content"), str):
        rest = {name: value for name, value in answer.items() if name != "content"}
        return Reply(answer["content"], output=rest or None)
    raise ProviderError(
        ErrorCode.PROVIDER_ERROR, f"the function answered a {type(answer).__name__}, no text and no content", final=True
    )
