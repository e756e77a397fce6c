"""Virtual time and one baton: exactly one thread of a schedule runs at a time, until it waits.

Code under test is synchronous and asynchronous, so it runs on real threads; but a thread passes the baton on only in
`Scheduler.suspend`, and a heap of events in virtual time decides to whom. The same seed gives the same interleaving.
"""

import threading
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

START = 1_795_176_000.0
"""The start time of every schedule, in seconds since 1970."""


class Crashed(BaseException):
    """Unwinds a thread whose invocation is dead. Not an Exception, so that no code under test catches it."""


class Violation(AssertionError):
    """An invariant of the protocol was broken."""


class Invocation:
    """A process of the schedule, whose threads crash together. `skew` is the error of its clock in seconds."""

    def __init__(self, name: str, skew: float = 0.0, on_crash: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self.skew = skew
        self.on_crash = on_crash
        self.is_dead = False
        self.had_failure = False
        """It crashed, or a call failed after all retries: results not yet stored may be lost."""
        self.was_delayed = False
        """It has waited so long for a response that it may run out of time."""
        self.last_fault_at: float | None = None
        """When the last fault of one of its calls began."""
        self.threads: dict[Thread, None] = {}
        self.postponed: list[Any] = []
        """Calls that a mutation has postponed."""


class Thread:
    """An operating system thread that runs jobs one after the other, each when it receives the baton."""

    def __init__(self) -> None:
        self.gate = threading.Lock()
        self.gate.acquire()
        self.ticket = 0
        """Counts its waits, so that a wake-up with an old ticket is ignored."""
        self.scheduler: Scheduler
        self.invocation: Invocation
        self.job: Callable[[], None]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.gate.acquire()
            self.scheduler.run_job(self)


_idle: list[Thread] = []


class Scheduler:
    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        self.now = 0.0
        """Seconds since the start of the schedule: small numbers, so that sums stay precise enough."""
        self.rng = Random(seed)
        self.steps = 0
        self.current: Thread | None = None
        self.has_ended = False
        self.error: BaseException | None = None
        self._trace = trace
        self._events: list[tuple[float, int, Callable[[], Thread | None]]] = []
        self._numbers = count()
        self._threads: dict[Thread, None] = {}
        self._main = threading.Lock()
        self._main.acquire()

    # -- for the schedule's actors

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Run `action` later, on whichever thread then holds the baton: it must not wait."""

        def act() -> None:
            action()

        heappush(self._events, (self.now + seconds, next(self._numbers), act))

    def spawn(self, invocation: Invocation, job: Callable[[], None]) -> None:
        """Start `job` as a thread of the invocation."""
        if invocation.is_dead or self.has_ended:
            return
        thread = _idle.pop() if _idle else Thread()
        thread.scheduler, thread.invocation, thread.job = self, invocation, job
        self._threads[thread] = None
        invocation.threads[thread] = None
        self._wake_after(0.0, thread)

    def kill(self, invocation: Invocation) -> None:
        """Crash: its threads end where they wait. A caller that kills its own invocation must then raise Crashed."""
        if not invocation.is_dead:
            invocation.had_failure = True
            self.end_threads(invocation)
            self.after(0.0, invocation.on_crash)

    def end_threads(self, invocation: Invocation) -> None:
        """End the threads that an invocation leaves behind."""
        invocation.is_dead = True
        for thread in invocation.threads:
            if thread is not self.current:
                self._wake_after(0.0, thread)

    def end(self) -> None:
        self.has_ended = True

    def log(self, text: str) -> None:
        if self._trace is not None:
            name = self.current.invocation.name if self.current else "cloud"
            self._trace(f"{self.now:10.3f} {name:<14} {text}")

    # -- waiting

    def ticket(self) -> tuple[Thread, int]:
        """Wakes the current thread from its next wait, when passed to `wake`."""
        assert self.current is not None
        return self.current, self.current.ticket

    def wake(self, ticket: tuple[Thread, int], seconds: float = 0.0) -> None:
        thread, number = ticket

        def resume() -> Thread | None:
            return thread if thread.ticket == number else None

        heappush(self._events, (self.now + seconds, next(self._numbers), resume))

    def suspend(self) -> None:
        """Wait until `wake` is called with the current ticket."""
        me = self.current
        assert me is not None
        self._advance(me)
        self.current = me
        me.ticket += 1
        if me.invocation.is_dead or self.has_ended:
            raise Crashed

    def sleep(self, seconds: float) -> None:
        self.wake(self.ticket(), seconds)
        self.suspend()

    # -- the baton

    def run(self) -> None:
        """Run until no events are left, or `end` is called. Raises the first error."""
        self._advance(None)
        self.has_ended = True
        while self._threads:
            next(iter(self._threads)).gate.release()
            self._main.acquire()
        if self.error is not None:
            raise self.error

    def run_job(self, thread: Thread) -> None:
        """Called by the thread that holds the baton; passes the baton on when the job is done."""
        self.current = thread
        thread.ticket += 1
        try:
            if not (thread.invocation.is_dead or self.has_ended):
                thread.job()
        except Crashed:
            pass
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            self.fail(error)
        thread.ticket += 1
        thread.invocation.threads.pop(thread, None)
        del self._threads[thread]
        _idle.append(thread)
        self._advance(thread, is_done=True)

    def _wake_after(self, seconds: float, thread: Thread) -> None:
        self.wake((thread, thread.ticket), seconds)

    def fail(self, error: BaseException) -> None:
        """End the schedule; `run` raises the first error passed here."""
        self.error = self.error or error
        self.has_ended = True

    def _advance(self, me: Thread | None, *, is_done: bool = False) -> None:
        """Process events until one wakes a thread, pass it the baton, and wait to get it back."""
        self.current = None
        while self._events and not self.has_ended:
            self.now, _, event = heappop(self._events)
            self.steps += 1
            try:
                woken = event()
            except BaseException as error:  # noqa: BLE001 - the main thread raises it
                self.fail(error)
                break
            if woken is me and me is not None and not is_done:
                return
            if woken is not None:
                woken.gate.release()
                self._wait_for_baton(me, is_done)
                return
        if me is not None:
            self._main.release()
            self._wait_for_baton(me, is_done)

    def _wait_for_baton(self, me: Thread | None, is_done: bool) -> None:
        if me is None:
            self._main.acquire()
        elif not is_done:
            me.gate.acquire()
