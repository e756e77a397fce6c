"""Runs as they were a few seconds ago: a worker notices a pause without a read per probe."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import ACTIVE, Run
from cupel_core.store import runs

FRESH_SECONDS = 3.0
STALE_SECONDS = 4.0
"""A read that took longer is repeated: a pause takes effect within five seconds."""


async def _read(ref: RunRef) -> Run | None:
    try:
        return await asyncio.to_thread(runs.get, ref)
    except NotFound:
        return None


class RunCache:
    """Caches the last read of each run; concurrent callers share one read."""

    def __init__(
        self,
        read: Callable[[RunRef], Awaitable[Run | None]] = _read,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._reads: dict[RunRef, tuple[float, asyncio.Future[Run | None]]] = {}

    async def get(self, ref: RunRef) -> Run | None:
        """The run; None when it does not exist or was deleted."""
        while True:
            started_at, read = self._reads.get(ref, (0.0, None))
            if read is None or self._clock() - started_at > FRESH_SECONDS:
                started_at, read = self._clock(), asyncio.ensure_future(self._read(ref))
                self._reads[ref] = (started_at, read)
            run = await asyncio.shield(read)
            if self._clock() - started_at <= STALE_SECONDS:
                return run

    async def get_open_run(self, ref: RunRef, fencing_token: int) -> Run | None:
        """The run if probes with this fencing token may start now, else None.

        A cached run with an older token is read again: it says nothing about the current one.
        """
        run = await self.get(ref)
        if run is not None and run.fencing_token < fencing_token:
            self._reads.pop(ref, None)
            run = await self.get(ref)
        return run if run is not None and run.fencing_token == fencing_token and run.status in ACTIVE else None
