"""Where judges sit: how many of their calls there may be at a time, and what is asked before each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random

from cupel_core.errors import Invalid
from cupel_core.grading.grader import Grader
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete

MOST_AT_A_TIME = 50
"""Calls of one workspace to one provider, or as many as its account has parallel requests."""


@dataclass
class Seats:
    """Of one process. `attempt` is one call of a model."""

    timeout_seconds: float
    patience_seconds: float
    rng: Random = field(default_factory=Random)
    attempt: Attempt = complete
    _taken: dict[tuple[str, str], asyncio.Semaphore] = field(default_factory=dict)

    def grader(
        self, workspace: str, account: Account | None, model: str, check: Callable[[], Awaitable[None]]
    ) -> Grader:
        """`check` raises what stops a call; Invalid for a model whose account is not known."""
        if account is None:
            raise Invalid(f"{model} is no model of a provider that Cupel knows")
        key = workspace, account.provider
        if key not in self._taken:
            self._taken[key] = asyncio.Semaphore(min(MOST_AT_A_TIME, account.max_parallel_requests))
        return Grader(
            account=account,
            model=model,
            timeout_seconds=self.timeout_seconds,
            patience_seconds=self.patience_seconds,
            rng=self.rng,
            attempt=self.attempt,
            guard=partial(_seated, self._taken[key], check),
        )


@asynccontextmanager
async def _seated(seats: asyncio.Semaphore, check: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    async with seats:
        await check()
        yield
