"""A limit on the grader calls in flight at the same time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cupel_core.providers.account import Account

MAX_CONCURRENT_CALLS = 50
"""Per workspace and provider; an account that allows fewer parallel requests lowers it."""


class ConcurrencyLimiter:
    """Limits the grader calls that one process has in flight, separately for each workspace and provider."""

    def __init__(self, max_calls: int = MAX_CONCURRENT_CALLS) -> None:
        self._max_calls = max_calls
        self._slots: dict[tuple[str, str], asyncio.Semaphore] = {}

    @asynccontextmanager
    async def slot(self, workspace: str, account: Account) -> AsyncIterator[None]:
        """Wait for a free slot and hold it for the duration of one call."""
        key = workspace, account.provider
        if key not in self._slots:
            self._slots[key] = asyncio.Semaphore(min(self._max_calls, account.max_parallel_requests))
        async with self._slots[key]:
            yield
