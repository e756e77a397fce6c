"""Calls that wait for a slot, first come, first served."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class WaitingCall:
    """A call of a model that has no slot yet. A `patient` one waits while its account is paused or suspended."""

    model: str
    patient: bool
    turn: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Done when the call may start; failed when it is postponed."""

    @property
    def has_slot(self) -> bool:
        return self.turn.done() and not self.turn.cancelled() and self.turn.exception() is None

    def start(self) -> None:
        self.turn.set_result(None)

    def postpone(self, error: Exception) -> None:
        self.turn.set_exception(error)


class WaitingCalls:
    """The calls of one lease that wait, in the order of their arrival."""

    def __init__(self) -> None:
        self._calls: dict[WaitingCall, None] = {}

    def __len__(self) -> int:
        return sum(not call.turn.done() for call in self._calls)

    def __iter__(self) -> Iterator[WaitingCall]:
        return iter([call for call in self._calls if not call.turn.done()])

    @property
    def models(self) -> frozenset[str]:
        return frozenset(call.model for call in self)

    @contextmanager
    def add(self, model: str, patient: bool) -> Iterator[WaitingCall]:
        """A waiting call, which leaves the queue at the end of the context."""
        call = WaitingCall(model, patient)
        self._calls[call] = None
        try:
            yield call
        finally:
            del self._calls[call]
            call.turn.cancel()
