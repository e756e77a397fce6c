"""Lends helper processes: few live at a time, one for each workspace at most, so that nobody queues behind another."""

import asyncio
import atexit
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from cupel_core.sandbox.errors import BudgetUsedUp, LimitExceeded
from cupel_core.sandbox.limits import MAX_EXCEEDED, WINDOW_SECONDS, TaskLimits, WorkspaceBudget
from cupel_core.sandbox.process import HelperProcess

MAX_PROCESSES = 3
"""Together with their memory limit they fit a function's memory."""
_MAX_WORKSPACES = 1_000
_DEFAULT_LIMITS = TaskLimits()

_workspace: ContextVar[str] = ContextVar("sandbox_workspace", default="")
_budgets: OrderedDict[str, WorkspaceBudget] = OrderedDict()
_idle: list[HelperProcess] = []
_lock = Lock()


def use_workspace(name: str) -> None:
    """The workspace whose expressions the running asyncio task, or thread, computes from now on."""
    _workspace.set(name)


def budget() -> WorkspaceBudget:
    """The budget of the current workspace."""
    with _lock:
        name = _workspace.get()
        found = _budgets.setdefault(name, WorkspaceBudget())
        _budgets.move_to_end(name)
        if len(_budgets) > _MAX_WORKSPACES:
            _budgets.popitem(last=False)
        return found


async def run(task: str, *arguments: Any, limits: TaskLimits = _DEFAULT_LIMITS) -> Any:
    """The JSON that the task returns for JSON arguments. Raises ExpressionError, LimitExceeded, BudgetUsedUp or
    SandboxFailed."""
    turns = _turns()
    async with turns.of(_workspace.get()), turns.processes:
        _check_budget()
        return await asyncio.get_running_loop().run_in_executor(_threads(), _call, budget(), task, arguments, limits)


def run_blocking(task: str, *arguments: Any, limits: TaskLimits = _DEFAULT_LIMITS) -> Any:
    """Like `run`, for callers without an event loop."""
    _check_budget()
    return _call(budget(), task, arguments, limits)


def reset_budgets() -> None:
    """For tests: every workspace has exceeded no limit yet."""
    with _lock:
        _budgets.clear()


def close() -> None:
    """End the idle helper processes."""
    with _lock:
        processes, _idle[:] = list(_idle), []
    for process in processes:
        process.close()


atexit.register(close)


def _call(budget: WorkspaceBudget, task: str, arguments: tuple[Any, ...], limits: TaskLimits) -> Any:
    with _lent_process() as process:
        try:
            return process.call(task, arguments, limits)
        except LimitExceeded:
            budget.record_exceeded(time.monotonic())
            raise


def _check_budget() -> None:
    if seconds := budget().exhausted_seconds(time.monotonic()):
        message = (
            f"was not computed: expressions of this workspace exceeded their limits {MAX_EXCEEDED} times within "
            f"{WINDOW_SECONDS:g} s"
        )
        raise BudgetUsedUp(message, seconds)


@contextmanager
def _lent_process() -> Iterator[HelperProcess]:
    process = _take_idle() or HelperProcess()
    try:
        yield process
    finally:
        with _lock:
            is_kept = process.is_alive and len(_idle) < MAX_PROCESSES
            if is_kept:
                _idle.append(process)
        if not is_kept:
            process.close()


def _take_idle() -> HelperProcess | None:
    with _lock:
        while _idle:
            process = _idle.pop()
            if process.is_alive:
                return process
            process.close()
    return None


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads of their own: the default executor's few threads write the outcomes."""
    return ThreadPoolExecutor(MAX_PROCESSES, thread_name_prefix="sandbox")


class _Turns:
    """Who may use a process now, on one event loop."""

    def __init__(self) -> None:
        self.processes = asyncio.Semaphore(MAX_PROCESSES)
        self._workspaces: OrderedDict[str, asyncio.Lock] = OrderedDict()

    def of(self, workspace: str) -> asyncio.Lock:
        lock = self._workspaces.setdefault(workspace, asyncio.Lock())
        self._workspaces.move_to_end(workspace)
        oldest = next(iter(self._workspaces))
        if len(self._workspaces) > _MAX_WORKSPACES and not self._workspaces[oldest].locked():
            del self._workspaces[oldest]
        return lock


_turns_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


def _turns() -> _Turns:
    return _turns_by_loop.setdefault(asyncio.get_running_loop(), _Turns())
