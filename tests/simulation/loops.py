"""An asyncio event loop in virtual time. Calls in an executor become threads of the same invocation."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

from tests.simulation.scheduler import Crashed, Invocation, Scheduler

_MAX_AWAITS = 20
"""Of the last lines of a coroutine."""


class VirtualLoop(asyncio.BaseEventLoop):
    def __init__(self, scheduler: Scheduler, invocation: Invocation) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._invocation = invocation
        self._clock_resolution = 1e-6
        self._selector = self  # asyncio waits by calling select()
        self._waiting: tuple[Any, int] | None = None
        self.abandoned: set[asyncio.Task[Any]] = set()

    def time(self) -> float:
        return self._scheduler.now

    def select(self, timeout: float | None) -> list[Any]:
        if self._invocation.is_dead or self._scheduler.has_ended:
            raise Crashed
        if timeout is None or timeout > 0:
            self._waiting = self._scheduler.ticket()
            if timeout is not None:
                self._scheduler.wake(self._waiting, timeout)
            self._scheduler.suspend()
            self._waiting = None
        return []

    def _process_events(self, _: list[Any]) -> None:
        return

    def _write_to_self(self) -> None:
        if self._waiting is not None:
            self._scheduler.wake(self._waiting)

    def run_in_executor(  # type: ignore[override]
        self, _: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()

        def resolve(setter: Callable[[Any], None], value: Any) -> None:
            if not future.done():
                setter(value)

        def job() -> None:
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - raised where the future is awaited
                self.call_soon_threadsafe(resolve, future.set_exception, error)
            else:
                self.call_soon_threadsafe(resolve, future.set_result, result)

        self._scheduler.spawn(self._invocation, job)
        return future


def run[T](scheduler: Scheduler, invocation: Invocation, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on its own loop; tasks it leaves behind end with the invocation."""
    loop = VirtualLoop(scheduler, invocation)
    loop.set_exception_handler(lambda _, context: scheduler.log(f"unretrieved: {context}"))
    try:
        return loop.run_until_complete(work)
    finally:
        _abandon(loop, work)
        loop.close()


def _abandon(loop: VirtualLoop, work: Coroutine[Any, Any, Any]) -> None:
    """End the work and the tasks that are left, without carrying out what they would await: their process is dead."""
    asyncio._set_running_loop(loop)  # Their last lines may create tasks, which end in the same way.
    try:
        _close(work)
        while tasks := [task for task in asyncio.all_tasks(loop) if task not in loop.abandoned]:
            for task in tasks:
                loop.abandoned.add(task)
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                _close(task.get_coro())
    finally:
        asyncio._set_running_loop(None)


def _close(coroutine: Any) -> None:
    """Also the coroutines that it awaits, the innermost first: one that awaits something in its last lines ignores the
    first attempts."""
    for _ in range(_MAX_AWAITS):
        for each in reversed(list(_awaited(coroutine))):
            with suppress(RuntimeError, Crashed):
                each.close()
        if inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED:
            return


def _awaited(coroutine: Any) -> Iterator[Any]:
    while inspect.iscoroutine(coroutine):
        yield coroutine
        coroutine = coroutine.cr_await
