"""Python functions as agents under test: `def agent(messages) -> str`, sync or async, optionally with the agent thread.

`messages` are the `{"role", "content"}` of the conversation so far, with a system message if there is one. The function
returns a text, or a mapping with the text in `content`; the other items are stored as the agent's `output`. A function
with a second parameter receives the `AgentThread`: `id` identifies the conversation, `turn` counts the answers so far.
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.text.storable import storable
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError

type Agent = Callable[..., Any]


@dataclass(frozen=True)
class FunctionTarget:
    """Calls a function for its next answer. A sync function runs in a thread, which continues after a timeout."""

    agent: Agent
    executor: Executor

    async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        """Raise ProviderError on a timeout and for any exception of the function: neither is an answer to judge."""
        del account, model
        messages = [{"role": str(message.role), "content": message.content} for message in request.messages]
        arguments = (messages, request.thread) if _takes_thread(self.agent) else (messages,)
        work = asyncio.ensure_future(self._call(arguments))
        try:
            await asyncio.wait({work}, timeout=timeout_seconds)
        finally:
            timed_out = work.cancel()
        if timed_out:
            raise ProviderError(ProbeErrorCode.TIMEOUT, f"no answer within {timeout_seconds:g} s")
        error = work.exception()
        if error is not None:
            raise _provider_error(error) from error
        return _reply(work.result())

    async def _call(self, arguments: tuple[Any, ...]) -> object:
        call = partial(self.agent, *arguments)
        if _is_async(self.agent):
            return await call()
        answer = await asyncio.get_running_loop().run_in_executor(self.executor, call)
        return await answer if isinstance(answer, Awaitable) else answer


def agent_name(agent: Agent) -> str:
    return str(getattr(agent, "__name__", None) or type(agent).__name__)


def _is_async(agent: Agent) -> bool:
    """True also for an object with an async `__call__`."""
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(type(agent).__call__)


def _takes_thread(agent: Agent) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(agent).parameters.values()
    return sum(each.kind in kinds and each.default is each.empty for each in parameters) > 1


def _provider_error(error: BaseException) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    *_, last = traceback.extract_tb(error.__traceback__)
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, f"{type(error).__name__}: {error} ({where})", final=True)


def _as_json(output: Mapping[Any, object]) -> dict[str, Any]:
    """What can be saved and sent to a judge: any other value is replaced by its text, as are other keys."""
    try:
        text = json.dumps({str(name): value for name, value in output.items()}, default=str, skipkeys=True)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the function returned a mapping that JSON cannot represent: {error}"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True) from error
    return dict(json.loads(storable(text)))


def _reply(answer: object) -> Reply:
    if isinstance(answer, str):
        return Reply(storable(answer))
    if isinstance(answer, Mapping) and isinstance(answer.get("content"), str):
        output = {name: value for name, value in answer.items() if name != "content"}
        return Reply(storable(answer["content"]), output=_as_json(output) or None)
    raise ProviderError(
        ProbeErrorCode.PROVIDER_ERROR,
        f"the function must return a string or a mapping with `content`, not {type(answer).__name__}",
        final=True,
    )
