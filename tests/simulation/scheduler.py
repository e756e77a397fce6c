"""Virtual time and one baton: of all threads of a schedule exactly one runs, and it runs until it waits.

Code under test is synchronous and asynchronous, so it runs on real threads; but a thread gives the baton away only in
`World.suspend`, and to whom is decided by a heap of events in virtual time. The same seed gives the same interleaving.
"""

import threading
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

START = 1_795_176_000.0
"""When every schedule begins, in seconds since 1970."""


class Crashed(BaseException):
    """Unwinds a thread whose invocation is dead. Nothing under test may catch it: it is not an Exception."""


class Violation(AssertionError):
    """An invariant of the protocol was broken."""


class Invocation:
    """A process of the schedule: what dies together. `skew` is how far its clock is off."""

    def __init__(self, name: str, skew: float = 0.0, mourn: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self.skew = skew
        self.mourn = mourn
        self.is_dead = False
        self.was_hurt = False
        """It crashed, or a call failed for good: what it had in hand may be lost."""
        self.was_late = False
        """It has waited so long for an answer that it may run out of time."""
        self.threads: dict[Thread, None] = {}
        self.late: list[Any] = []
        """What a mutation has put off."""


class Thread:
    """An operating system thread that carries out one job after the other, each when it is given the baton."""

    def __init__(self) -> None:
        self.gate = threading.Lock()
        self.gate.acquire()
        self.ticket = 0
        """Counts its waits: a waker that comes too late holds an old ticket."""
        self.world: World
        self.invocation: Invocation
        self.job: Callable[[], None]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.gate.acquire()
            self.world.carry_out(self)


_idle: list[Thread] = []


class World:
    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        self.now = 0.0
        """Seconds since the schedule began: small numbers, so that sums of them stay exact enough."""
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

    # -- what actors use

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Carries out `action` later, on whatever thread holds the baton then: it must not wait."""

        def act() -> None:
            action()

        heappush(self._events, (self.now + seconds, next(self._numbers), act))

    def spawn(self, invocation: Invocation, job: Callable[[], None]) -> None:
        """Starts `job` as a thread of the invocation."""
        if invocation.is_dead or self.has_ended:
            return
        thread = _idle.pop() if _idle else Thread()
        thread.world, thread.invocation, thread.job = self, invocation, job
        self._threads[thread] = None
        invocation.threads[thread] = None
        self._wake_after(0.0, thread)

    def kill(self, invocation: Invocation) -> None:
        """A crash: its threads end where they wait. Whoever kills itself raises Crashed after this."""
        if not invocation.is_dead:
            invocation.was_hurt = True
            self.bury(invocation)
            self.after(0.0, invocation.mourn)

    def bury(self, invocation: Invocation) -> None:
        """Ends the threads that an invocation leaves behind."""
        invocation.is_dead = True
        for thread in invocation.threads:
            if thread is not self.current:
                self._wake_after(0.0, thread)

    def end(self) -> None:
        self.has_ended = True

    def log(self, text: str) -> None:
        if self._trace is not None:
            who = self.current.invocation.name if self.current else "cloud"
            self._trace(f"{self.now:10.3f} {who:<14} {text}")

    # -- what waits

    def ticket(self) -> tuple[Thread, int]:
        """What a waker needs to wake the current thread from its next wait."""
        assert self.current is not None
        return self.current, self.current.ticket

    def wake(self, ticket: tuple[Thread, int], seconds: float = 0.0) -> None:
        thread, number = ticket

        def resume() -> Thread | None:
            return thread if thread.ticket == number else None

        heappush(self._events, (self.now + seconds, next(self._numbers), resume))

    def suspend(self) -> None:
        """Waits until somebody uses the current ticket."""
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
        """Until nothing is left to happen, or `end`. Raises what went wrong."""
        self._advance(None)
        self.has_ended = True
        while self._threads:
            next(iter(self._threads)).gate.release()
            self._main.acquire()
        if self.error is not None:
            raise self.error

    def carry_out(self, thread: Thread) -> None:
        """Called by the thread with the baton; gives the baton on when the job is done."""
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
        """Ends the schedule; `run` raises the first of what is told here."""
        self.error = self.error or error
        self.has_ended = True

    def _advance(self, me: Thread | None, *, is_done: bool = False) -> None:
        """Lets events happen until one wakes a thread, hands it the baton, and waits for its return."""
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
                self._rest(me, is_done)
                return
        if me is not None:
            self._main.release()
            self._rest(me, is_done)

    def _rest(self, me: Thread | None, is_done: bool) -> None:
        if me is None:
            self._main.acquire()
        elif not is_done:
            me.gate.acquire()
