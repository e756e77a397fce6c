"""Calls that wait for a slot, first come, first served."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from cupel_core.base.deferred import dataclass


@dataclass(eq=False)
class WaitingCall:
    """A call of a model that has no slot yet. A `patient` one waits while its account is paused or suspended."""

    model: str
    patient: bool
    turn: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Done when the call may start, and fails when it is postponed."""

    @property
    def has_slot(self) -> bool:
        return self.turn.done() and not self.turn.cancelled() and self.turn.exception() is None


class WaitingCalls:
    """The waiting calls of one lease, in the order of their arrival. Hundreds may wait for a slow judge."""

    def __init__(self) -> None:
        self._calls: dict[WaitingCall, None] = {}
        self._models: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[WaitingCall]:
        """Iterate over a copy, because calls may leave meanwhile."""
        return iter(list(self._calls))

    @property
    def models(self) -> frozenset[str]:
        return frozenset(self._models)

    @contextmanager
    def add(self, model: str, patient: bool) -> Iterator[WaitingCall]:
        """Add a call. It leaves the queue as soon as it is served, or at the end of the context."""
        call = WaitingCall(model, patient)
        self._calls[call] = None
        self._models[model] += 1
        try:
            yield call
        finally:
            self._remove(call)
            call.turn.cancel()

    def start(self, call: WaitingCall) -> None:
        self._remove(call)
        call.turn.set_result(None)

    def postpone(self, call: WaitingCall, error: Exception) -> None:
        self._remove(call)
        call.turn.set_exception(error)

    def _remove(self, call: WaitingCall) -> None:
        if call in self._calls:
            del self._calls[call]
            self._models[call.model] -= 1
            if not self._models[call.model]:
                del self._models[call.model]
