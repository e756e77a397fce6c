"""Caches the budgets of workspaces for days and months, as they were a few seconds ago."""

import asyncio
import time
from collections.abc import Callable, Iterable

from cupel_core.domain.budgets.periods import PeriodLimits
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store import evaluation_settings
from cupel_core.store.clients import AWS_ERRORS

FRESH_SECONDS = 3.0
_NO_LIMITS = PeriodLimits()


class PeriodLimitsCache:
    def __init__(
        self,
        read: Callable[[str], PeriodLimits] = evaluation_settings.get_budgets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._limits: dict[str, PeriodLimits] = {}
        self._read_at: dict[str, float] = {}
        self._reads: dict[str, asyncio.Task[None]] = {}

    def of(self, workspace: str) -> PeriodLimits:
        """Return the limits as they were last read; there are none before `load`."""
        return self._limits.get(workspace, _NO_LIMITS)

    async def load(self, workspace: str) -> None:
        """Read the limits of a workspace whose calls this worker starts to make. Raises what the store raises."""
        if workspace not in self._limits:
            await self._refresh(workspace)

    def refresh_if_due(self, workspaces: Iterable[str]) -> None:
        """Start to read what was read too long ago. Nobody waits for it: the limits are read again with each report."""
        for workspace in workspaces:
            read = self._reads.get(workspace)
            is_due = self._clock() - self._read_at.get(workspace, 0.0) > FRESH_SECONDS
            if is_due and workspace in self._limits and (read is None or read.done()):
                self._reads[workspace] = asyncio.create_task(self._try_refresh(workspace))

    async def close(self) -> None:
        await asyncio.gather(*self._reads.values())

    async def _try_refresh(self, workspace: str) -> None:
        try:
            await self._refresh(workspace)
        except AWS_ERRORS as error:
            log_unforeseen(error, "the limits of a workspace could not be read")

    async def _refresh(self, workspace: str) -> None:
        self._read_at[workspace] = self._clock()
        self._limits[workspace] = await asyncio.to_thread(self._read, workspace)
