"""A worker's leases, one for each account that it calls: acquired with the first call, renewed until the end."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from types import TracebackType
from typing import Self

from cupel_core.accounts.leases.holder import LeaseHolder, Reservation
from cupel_core.accounts.leases.lease_state import LeaseKey
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.limits.governor import Limits
from cupel_core.domain.runs.run import Priority
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import BeforeCall, OnAnswer, allow_call
from cupel_core.providers.completion import Attempt, complete

CHECK_INTERVAL_SECONDS = 0.1
MAX_WAIT_SECONDS = 30.0
"""A call waits at most this long for a slot. Conversations whose calls would wait longer are requeued."""


def _ignore() -> None:
    return


class LeasePool:
    """Makes each call within a lease on its account, as a CallLimiter. Leases are renewed while the pool is open."""

    def __init__(
        self,
        worker_id: str | None = None,
        priority: Priority = Priority.NORMAL,
        *,
        is_interactive: bool = False,
        hands_back: bool = False,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
        max_wait_seconds: Callable[[], float] = lambda: MAX_WAIT_SECONDS,
        patient: bool = False,
        on_change: Callable[[], None] = _ignore,
    ) -> None:
        """Create a pool of leases, which are renewed once it is entered.

        An interactive pool may use the slots that are reserved for calls for which a person waits. A pool that
        `hands_back` makes calls again later that only the owner of an account can repair. `max_wait_seconds` limits the
        wait for a slot; a `patient` pool also waits that long while an account is paused. `on_change` is called when
        calls may be possible that were not before.
        """
        self._worker_id = worker_id or uuid.uuid4().hex[:12]
        self._priority = priority
        self._is_interactive = is_interactive
        self._hands_back = hands_back
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._max_wait_seconds = max_wait_seconds
        self._patient = patient
        self._on_change = on_change
        self._holders: dict[tuple[str, str | RunRef], LeaseHolder] = {}
        self._has_waiting = asyncio.Event()
        self._renewals: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._renewals = asyncio.create_task(self._renew_periodically())
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release the leases. Those of a worker that is cancelled expire."""
        if self._renewals is not None:
            self._renewals.cancel()
        if error is None or isinstance(error, Exception):
            await asyncio.gather(*(holder.leave() for holder in self._holders.values()))

    def lease_holder(self, workspace: str, account: Account) -> LeaseHolder:
        limits = Limits(account.max_parallel_requests, account.requests_per_minute, account.tokens_per_minute)
        return self._lease_holder(workspace, account.provider, limits)

    def run_lease_holder(self, run: RunRef, max_concurrency: int) -> LeaseHolder:
        """Return the lease on a run that limits how many of its conversations are in progress. Each uses one slot."""
        return self._lease_holder(run.workspace, run, Limits(max_concurrency))

    def _lease_holder(self, workspace: str, limited: str | RunRef, limits: Limits) -> LeaseHolder:
        key = workspace, limited
        if key not in self._holders:
            lease_key = LeaseKey(
                workspace, limited, self._worker_id, self._priority, self._is_interactive, self._hands_back
            )
            self._holders[key] = LeaseHolder(lease_key, self._clock, self._rng)
        holder = self._holders[key]
        holder.limits = limits
        return holder

    async def recheck(self, workspace: str, account: Account) -> None:
        """Check whether a call with a slot that has waited for something else may still start. Raise CallPostponed if
        the account was paused meanwhile, or the lease has expired."""
        self.lease_holder(workspace, account).postpone_if_closed()

    @asynccontextmanager
    async def slot(
        self,
        workspace: str,
        account: Account,
        model: str,
        before_call: BeforeCall = allow_call,
        *,
        reservation: Reservation | None = None,
    ) -> AsyncIterator[OnAnswer]:
        """Wait until a call to the account may start, await `before_call`, and use its slot. Raise CallPostponed."""
        holder = self.lease_holder(workspace, account)
        self._has_waiting.set()
        slot = holder.slot(model, self._max_wait_seconds(), before_call, patient=self._patient, reservation=reservation)
        try:
            async with slot as on_answer:
                yield on_answer
        finally:
            self._on_change()

    async def attempt(
        self,
        workspace: str,
        account: Account,
        model: str,
        request: ModelRequest,
        timeout_seconds: float,
        attempt: Attempt = complete,
    ) -> Reply:
        async with self.slot(workspace, account, model) as on_answer:
            reply = await attempt(account, model, request, timeout_seconds)
            on_answer(reply)
            return reply

    def is_crowded(self, workspace: str) -> bool:
        return any(holder.is_crowded for (owner, _), holder in self._holders.items() if owner == workspace)

    async def renew(self, holder: LeaseHolder) -> None:
        if holder.is_renewal_due:
            await asyncio.shield(holder.renew())
            self._on_change()

    async def _renew_periodically(self) -> None:
        """Renew leases concurrently, so that an account whose renewal takes long delays no other."""
        renewals: set[asyncio.Task[None]] = set()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                    await self._has_waiting.wait()
            self._has_waiting.clear()
            for holder in self._holders.values():
                if holder.is_renewal_due:
                    renewal = holder.renew()
                    renewals.add(renewal)
                    renewal.add_done_callback(renewals.discard)
                    renewal.add_done_callback(lambda _: self._on_change())
                holder.serve_waiting_calls()
