"""A pool of helper processes. There are few, and each workspace uses one at a time, so that none blocks another."""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
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

import orjson

from cupel_core.sandbox.errors import BudgetUsedUp, ExpressionError, LimitExceeded, SandboxFailed
from cupel_core.sandbox.limits import MAX_EXCEEDED, WINDOW_SECONDS, TaskLimits, WorkspaceBudget

_INHERITED = ("LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")
"""The helper gets no other variable, because a function's environment contains its credentials."""
_START = "import sys; sys.path[:] = {path!r}; from cupel_core.sandbox.helper import serve; serve({descriptor})"
_EXIT_SECONDS = 5.0


class HelperProcess:
    """The parent's end of one helper process, which is started at once. `close` it, or let it end with this process. It
    is not safe for concurrent use: the pool lends it to one caller at a time."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with code of our own
                [sys.executable, "-I", "-S", "-B", "-c", _START.format(path=sys.path, descriptor=theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={name: os.environ[name] for name in _INHERITED if name in os.environ},
                cwd="/",
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def call(self, task: str, arguments: tuple[Any, ...], limits: TaskLimits) -> Any:
        """Return the task's result. Raise ExpressionError, LimitExceeded or SandboxFailed. After the latter two, the
        process may be dead."""
        fields = {
            "task": task,
            "arguments": arguments,
            "cpuSeconds": limits.cpu_seconds,
            "memoryBytes": limits.memory_bytes,
            "maxOutputBytes": limits.max_output_bytes,
        }
        try:
            response = self._exchange(orjson.dumps(fields), limits)
        except orjson.JSONEncodeError as error:
            raise ExpressionError(f"is applied to what is no JSON: {error}") from None
        except (OSError, EOFError) as error:
            raise self._end(limits, error) from None
        return _result(orjson.loads(response), limits)

    def close(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def _exchange(self, request: bytes, limits: TaskLimits) -> bytes:
        ends_at = time.monotonic() + limits.wall_seconds
        self._channel.settimeout(limits.wall_seconds)
        self._channel.sendall(len(request).to_bytes(4) + request)
        size = int.from_bytes(self._receive(4, ends_at))
        # An error may be a little longer than the result may be.
        if size > limits.max_output_bytes + 10_000:
            raise EOFError("the response is too long")
        return self._receive(size, ends_at)

    def _receive(self, size: int, ends_at: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._channel.settimeout(max(0.001, ends_at - time.monotonic()))
            part = self._channel.recv(min(size - len(parts), 1_048_576))
            if not part:
                raise EOFError("the helper process ended")
            parts += part
        return bytes(parts)

    def _end(self, limits: TaskLimits, error: Exception) -> Exception:
        if isinstance(error, EOFError):
            self._await_exit()
        is_alive = self.is_alive
        self.close()
        code = self._process.returncode
        if isinstance(error, TimeoutError):
            return LimitExceeded(f"takes more than {limits.wall_seconds:g} s")
        if code == -signal.SIGPROF:
            return LimitExceeded(_time_message(limits))
        if not is_alive and code in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            return LimitExceeded(_memory_message(limits))
        return SandboxFailed(f"the helper process ended with {code}: {error}")

    def _await_exit(self) -> None:
        try:
            self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return


def _result(response: dict[str, Any], limits: TaskLimits) -> Any:
    match response:
        case {"result": result}:
            return result
        case {"limit": "output"}:
            raise LimitExceeded(f"gives more than {limits.max_output_bytes:,} bytes")
        case {"limit": "memory"}:
            raise LimitExceeded(_memory_message(limits))
        case {"limit": _}:
            raise LimitExceeded(_time_message(limits))
        case {"error": message}:
            raise ExpressionError(message)
    raise SandboxFailed(str(response.get("failure")))


def _time_message(limits: TaskLimits) -> str:
    return f"takes more than {limits.cpu_seconds:g} s of CPU time"


def _memory_message(limits: TaskLimits) -> str:
    return f"needs more than {limits.memory_mb} MB of memory"


MAX_PROCESSES = 3
"""Together with their memory limit they fit a function's memory."""
_MAX_WORKSPACES = 1_000
_DEFAULT_LIMITS = TaskLimits()

_workspace: ContextVar[str] = ContextVar("sandbox_workspace", default="")
_budgets: OrderedDict[str, WorkspaceBudget] = OrderedDict()
_idle: list[HelperProcess] = []
_lock = Lock()


def use_workspace(name: str) -> None:
    """Set the workspace of the expressions that the running asyncio task, or thread, computes from now on."""
    _workspace.set(name)


def budget() -> WorkspaceBudget:
    with _lock:
        name = _workspace.get()
        found = _budgets.setdefault(name, WorkspaceBudget())
        _budgets.move_to_end(name)
        if len(_budgets) > _MAX_WORKSPACES:
            _budgets.popitem(last=False)
        return found


async def run(task: str, *arguments: Any, limits: TaskLimits = _DEFAULT_LIMITS) -> Any:
    """Return the JSON that the task returns for JSON arguments. Raise ExpressionError, LimitExceeded, BudgetUsedUp or
    SandboxFailed."""
    turns = _turns()
    async with turns.of(_workspace.get()), turns.processes:
        _check_budget()
        return await asyncio.get_running_loop().run_in_executor(_threads(), _call, budget(), task, arguments, limits)


def run_blocking(task: str, *arguments: Any, limits: TaskLimits = _DEFAULT_LIMITS) -> Any:
    """Run a task like `run`, for callers without an event loop."""
    _check_budget()
    return _call(budget(), task, arguments, limits)


def reset_budgets() -> None:
    """Reset the exceeded limits of every workspace, for tests."""
    with _lock:
        _budgets.clear()


def close() -> None:
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
    """Return separate threads, because the default executor's few threads write the outcomes."""
    return ThreadPoolExecutor(MAX_PROCESSES, thread_name_prefix="sandbox")


class _Turns:
    """Decides which caller may use a process now, on one event loop."""

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
