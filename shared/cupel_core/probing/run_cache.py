"""The run as it was at most two seconds ago: what tells a worker to stop, without a read per probe."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from cupel_core.domain.runs.run import ACTIVE, Run
from cupel_core.errors import NotFound
from cupel_core.messages import RunRef
from cupel_core.store import runs

FRESH_SECONDS = 2.0
STALE_SECONDS = 4.0
"""A sight that was so long on its way is not acted on: a pause holds within five seconds."""


async def _read(ref: RunRef) -> Run | None:
    try:
        return await asyncio.to_thread(runs.get, ref)
    except NotFound:
        return None


class Watch:
    """Keeps the last sight of each run; concurrent askers share one read."""

    def __init__(
        self,
        read: Callable[[RunRef], Awaitable[Run | None]] = _read,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._seen: dict[RunRef, tuple[float, asyncio.Future[Run | None]]] = {}

    async def run(self, ref: RunRef) -> Run | None:
        """None when there is no such run, or it was deleted."""
        while True:
            at, seen = self._seen.get(ref, (0.0, None))
            if seen is None or self._clock() - at > FRESH_SECONDS:
                at, seen = self._clock(), asyncio.ensure_future(self._read(ref))
                self._seen[ref] = (at, seen)
            run = await asyncio.shield(seen)
            if self._clock() - at <= STALE_SECONDS:
                return run

    async def open_run(self, ref: RunRef, epoch: int) -> Run | None:
        """The run, if probes of this epoch may start now. What was seen before the epoch began does not tell."""
        run = await self.run(ref)
        if run is not None and run.epoch < epoch:
            self._seen.pop(ref, None)
            run = await self.run(ref)
        return run if run is not None and run.epoch == epoch and run.status in ACTIVE else None
