"""The duration of one model call without its set-up: loading the client, opening a connection, the TLS handshake.

A provider's module declares its set-up, so code that measures a call need not know how it is made.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from cupel_core.base.deferred import dataclass


@dataclass
class CallTimer:
    started_at: float = field(default_factory=time.perf_counter)
    setup_seconds: float = 0.0

    @property
    def duration_ms(self) -> int:
        return max(0, round((time.perf_counter() - self.started_at - self.setup_seconds) * 1_000))


_current: ContextVar[CallTimer | None] = ContextVar("call_timer", default=None)


def start_timer() -> CallTimer:
    """Measure the call that this task makes next, until it starts another timer."""
    timer = CallTimer()
    _current.set(timer)
    return timer


def current_timer() -> CallTimer:
    """Return the timer that this task started last, or a new one."""
    return _current.get() or start_timer()


@contextmanager
def setting_up() -> Iterator[None]:
    """Exclude the time within the block from the current call."""
    started_at = time.perf_counter()
    try:
        yield
    finally:
        add_setup(time.perf_counter() - started_at)


def add_setup(seconds: float) -> None:
    timer = _current.get()
    if timer is not None:
        timer.setup_seconds += seconds
