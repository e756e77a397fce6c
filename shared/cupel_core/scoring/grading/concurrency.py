import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import BeforeCall, OnAnswer, allow_call, ignore_answer

MAX_CONCURRENT_CALLS = 50
"""The limit is per workspace and provider; an account that allows fewer parallel requests lowers it."""


class ConcurrencyLimiter:
    """Limits the grader calls of a process that shares no account with others, by workspace and provider. The calls of
    a stack are limited by leases instead (`cupel_core/accounts/leases`)."""

    def __init__(self, max_calls: int = MAX_CONCURRENT_CALLS) -> None:
        self._max_calls = max_calls
        self._slots: dict[tuple[str, str], asyncio.Semaphore] = {}

    @asynccontextmanager
    async def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AsyncIterator[OnAnswer]:
        """Wait for a free slot, await `before_call`, and occupy the slot for the duration of one call."""
        del model
        key = workspace, account.provider
        if key not in self._slots:
            self._slots[key] = asyncio.Semaphore(min(self._max_calls, account.max_parallel_requests))
        async with self._slots[key]:
            await before_call()
            yield ignore_answer
