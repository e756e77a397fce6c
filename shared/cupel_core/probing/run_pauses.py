"""Runs that this worker pauses: because a model refuses every call, or because their budget is used up."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from cupel_core.messages import RunRef
from cupel_core.probing.claimed_slice import ClaimedSlice


class RunPauses:
    """`on_end` is called when a pause was written, or could not be."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end
        self._pauses: dict[tuple[RunRef, int], asyncio.Task[None]] = {}
        """By run and fencing token."""

    def start(self, claimed: ClaimedSlice, pause: Callable[[], Coroutine[Any, Any, None]]) -> "asyncio.Task[None]":
        """Pause the slice's run. Once it is paused, its messages are void and the pending probes are dropped."""
        key = (claimed.probe_slice.run, claimed.probe_slice.fencing_token)
        pausing = self._pauses.get(key)
        if pausing is None or (pausing.done() and pausing.exception() is not None):
            pausing = asyncio.create_task(pause())
            pausing.add_done_callback(lambda _: self._on_end())
            self._pauses[key] = pausing
        return pausing

    def has_paused(self, claimed: ClaimedSlice) -> bool:
        pausing = self._pauses.get((claimed.probe_slice.run, claimed.probe_slice.fencing_token))
        return pausing is not None and pausing.done() and pausing.exception() is None
