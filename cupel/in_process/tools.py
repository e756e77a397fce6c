"""Calls Python functions as tools: `def find_order(number: str) -> object` gets the arguments that the model wrote.

A function may be async, and returns a text or anything that JSON can represent. It raises ToolFailed to give the model
an error; any other exception ends the probe with an error, which says nothing about the target.
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from cupel.errors import UsageError
from cupel_core.conversations.tool_execution import ToolError, ToolExecutor
from cupel_core.domain.conversations.tool_results import MAX_RESULT_LENGTH, ToolOutcome, as_content
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.text.storable import storable

type ToolFunction = Callable[..., Any]

_MAX_ERROR_LENGTH = 10_000


class ToolFailed(Exception):
    """Raised by a tool to tell the model that the call failed, and why."""


@dataclass(frozen=True)
class FunctionTools:
    """Maps tools to functions; calls of other tools are passed to `other`, if there is one.

    A sync function runs in a thread, which continues after a timeout.
    """

    functions: Mapping[str, ToolFunction]
    executor: Executor
    timeout_seconds: float
    other: ToolExecutor | None = None

    async def __call__(self, call: ToolCall, arguments: dict[str, Any]) -> ToolOutcome | None:
        function = self.functions.get(call.name)
        if function is None:
            return await self.other(call, arguments) if self.other else None
        try:
            inspect.signature(function).bind(**arguments)
        except TypeError as error:
            return ToolOutcome(f"The arguments do not fit: {error}.", is_error=True)
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return _outcome(call.name, await self._call(function, arguments))
        except ToolFailed as error:
            return ToolOutcome(storable(str(error), _MAX_ERROR_LENGTH), is_error=True)
        except ToolError:
            raise
        except TimeoutError as error:
            raise ToolError(f"{call.name} took longer than {self.timeout_seconds:g} s") from error
        except Exception as error:
            raise ToolError(f"{call.name} failed: {_described(error)}") from error

    async def _call(self, function: ToolFunction, arguments: dict[str, Any]) -> object:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            return await function(**arguments)
        run = partial(function, **arguments)
        returned = await asyncio.get_running_loop().run_in_executor(self.executor, run)
        return await returned if inspect.isawaitable(returned) else returned


def _outcome(name: str, returned: object) -> ToolOutcome:
    try:
        content = as_content(json.loads(json.dumps(returned)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"{name} returned what JSON cannot represent: {error}") from error
    if len(content) > MAX_RESULT_LENGTH:
        raise ToolError(f"{name} returned {len(content):,} characters; at most {MAX_RESULT_LENGTH:,} are accepted")
    return ToolOutcome(content)


def _described(error: Exception) -> str:
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__}: {error} ({last.filename.rpartition('/')[2]}:{last.lineno})"


def check_functions(functions: Mapping[str, Any], offered: set[str]) -> None:
    """Raise UsageError for values that cannot be called, or are no tool of any target."""
    for name, function in functions.items():
        if not callable(function):
            raise UsageError(f"tools.{name}: must be a function")
        if name not in offered:
            known = ", ".join(sorted(offered)) or "none"
            raise UsageError(f"tools.{name}: is described by no `tools` parameter; those described: {known}")
