"""The part of a budget that one worker may spend: drawn for many calls with one request, and divided among them here.

Before a call, what it costs at most is reserved; afterwards, what it has cost is deducted and the rest is free again.
Both happen at once and in memory. The account is told at least once a minute, so that a dead worker's lease may expire
soon. What a worker has drawn and not spent is uncertain when it dies, so it never draws much more than it needs.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from math import inf

from cupel_core.base.errors import RetryableError
from cupel_core.budgets.accounts import AccountStore, BudgetGrant
from cupel_core.budgets.ledger import Demand, OutputLengths, WorkerLedger
from cupel_core.budgets.reservations import SHORTAGE_SECONDS, BudgetShortage, CallInQueue, OpeningReservation
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.roles import ModelRole

LEASE_SECONDS = 150.0
IDLE_SECONDS = 5.0
"""After which a worker without work for the run gives back what it has drawn."""
EXHAUSTION_SECONDS = 5.0
"""For which a report that finds a budget used up counts: a limit may be raised, and a period ends."""
LOW_FRACTION = 0.25
"""Of the last draw: with less than this left, a worker draws again before it needs more."""


REPORT_SECONDS = 60.0
"""A worker that has drawn or spent anything reports at least as often."""
_MIN_INTERVAL_SECONDS = 0.2
_FIRST_RETRY_SECONDS, _MAX_DOUBLINGS = 1.0, 3


class Allowance:
    """One worker's part of one budget. Amounts are in billionths of a USD."""

    def __init__(self, worker_id: str, account: AccountStore, clock: Callable[[], float], ends_at: float = inf) -> None:
        """`ends_at` is when the worker ends at the latest: then its lease expires."""
        self.limit = 0
        self.demand = Demand()
        self.outputs = OutputLengths()
        self.account = BudgetAccount()
        """As of the last report."""
        self.exhausted_for: int | None = None
        """What the calls that wait need at least, if the budget will never have it; None while it may."""
        self.exhausted: BudgetScope | None = None
        """Which limit does not allow it."""
        self.is_short = False
        """Whether the last report was granted less than the calls that wait need."""
        self._worker_id = worker_id
        self._store = account
        self._clock = clock
        self._ends_at = ends_at
        self._ledger = WorkerLedger()
        self._times = ReportTimes()
        self._waiting: dict[CallInQueue, None] = {}
        self._report: asyncio.Task[None] | None = None
        self._has_lease = False
        self._reported_used = 0
        self._last_draw = 0
        self._used_at = clock()
        self._exhausted_at = -inf
        self._had_calls_when_refused = False

    def requeue_delay_seconds(self) -> float | None:
        """After how long pending conversations should be tried again; None if they may start, or waiting is worth it.

        A conversation of this worker that ends may leave enough for another one.
        """
        is_refused = self.is_short and self.exhausted_for is None and not self._is_refusal_outdated
        is_waiting = is_refused and not self.demand.open_conversations
        return SHORTAGE_SECONDS if is_waiting and self._ledger.balance < self.demand.first_call else None

    def set_limit(self, limit: int) -> None:
        """A worker learns of a raised limit with the run, and asks again at once."""
        if limit > self.limit:
            self.forget_exhaustion()
        self.limit = limit

    def forget_exhaustion(self) -> None:
        """The next call that needs more than is left asks again."""
        self._times.reset()
        self.exhausted_for, self.exhausted, self.is_short = None, None, False

    def start_conversation(self, amount: int) -> OpeningReservation | None:
        """Set aside what its first call needs; None if there is too little, or other calls wait for it."""
        self._used_at = self._clock()
        if self._waiting or self._ledger.balance < amount:
            return None
        self._ledger.take(amount)
        self.demand.open_conversations += 1
        return OpeningReservation(amount, self._give_back)

    def end_conversation(self) -> None:
        self._used_at = self._clock()
        self.demand.end_conversation(self._ledger.used)
        if self._is_refusal_outdated:
            self._times.reset()

    @property
    def _is_refusal_outdated(self) -> bool:
        """Whether the last draw was refused while calls of this worker might still leave enough, and none may now.

        The next report tells whether the budget is used up; to requeue its conversations would only delay that.
        """
        return self.is_short and self._had_calls_when_refused and not self._ledger.in_flight

    async def reserve(self, amount: int) -> float:
        """Set aside what a call costs at most; returns for how many seconds it has waited.

        Raises BudgetShortage if the budget does not allow it now.
        """
        started_at = self._used_at = self._clock()
        self.demand.note_reserved(amount)
        if self._ledger.balance >= amount:
            self._ledger.take(amount)
            return 0.0
        if self.is_short and not self._times.may_report(self._clock()):
            raise self._shortage(amount)
        call = CallInQueue(amount)
        self._waiting[call] = None
        try:
            if not self._is_reporting:
                self.report()
            await call.turn
        except asyncio.CancelledError:
            if call.has_reserved:
                self._give_back(amount)
            raise
        finally:
            self._waiting.pop(call, None)
        return self._clock() - started_at

    def settle(self, reserved: int, cost: int, role: ModelRole, *, is_certain: bool = True) -> None:
        """Deduct what a call has cost; the rest of what was reserved for it is free again."""
        self._used_at = self._clock()
        self._ledger.settle(reserved, cost, role, is_certain=is_certain)
        self._serve_waiting()

    def _give_back(self, amount: int) -> None:
        self._ledger.give_back(amount)
        self._serve_waiting()

    def _serve_waiting(self) -> None:
        for call in list(self._waiting):
            if self._ledger.balance >= call.amount and not call.turn.done():
                del self._waiting[call]
                self._ledger.take(call.amount)
                call.turn.set_result(None)

    def is_exhausted_for(self, amount: int) -> bool:
        """Whether the budget will not allow a call that may cost so much, unless its limit is raised or its period
        ends."""
        is_recent = self._clock() - self._exhausted_at < EXHAUSTION_SECONDS
        return is_recent and self.exhausted_for is not None and self.exhausted_for <= amount

    def _shortage(self, amount: int) -> BudgetShortage:
        return BudgetShortage(amount, self.exhausted if self.is_exhausted_for(amount) else None)

    @property
    def _is_reporting(self) -> bool:
        return self._report is not None and not self._report.done()

    @property
    def is_report_due(self) -> bool:
        now, balance = self._clock(), self._ledger.balance
        if self._is_reporting or not self._times.may_report(now):
            return False
        if self._waiting or (self.demand.pending and balance < self.demand.first_call):
            return True
        if self.demand.conversations and not self.is_short and balance < LOW_FRACTION * self._last_draw:
            return True
        if self._is_idle:
            return balance > 0
        has_changed = self._ledger.in_flight or balance or self._ledger.used != self._reported_used
        return bool(has_changed) and self._times.is_due(now)

    @property
    def _is_idle(self) -> bool:
        has_work = self.demand.conversations or self._waiting or self._ledger.in_flight
        return not has_work and self._clock() - self._used_at > IDLE_SECONDS

    def report(self) -> "asyncio.Task[None]":
        """Start a report to the account, for all calls that begin to wait at this time."""
        self._report = asyncio.create_task(self._send_report())
        return self._report

    def _new_report(self) -> BudgetReport:
        """What is too little for any call is given back first: others may need it, and the response may be lost."""
        needed = self._smallest_need()
        if self._ledger.balance >= needed and not self._is_idle:
            needed = 0
        else:
            self._ledger.empty()
        wanted = max(0, self.demand.amount(len(self._waiting)) - self._ledger.balance)
        return self._ledger.report(
            self._worker_id, needed, wanted, until=min(self._ends_at, self._clock() + LEASE_SECONDS)
        )

    def _smallest_need(self) -> int:
        """Of the calls that wait. No conversation starts before them, so the cheapest one counts only if none waits."""
        if self._waiting:
            return min(call.amount for call in self._waiting)
        return self.demand.first_call if self.demand.pending else 0

    async def _send_report(self) -> None:
        limit, report, now = self.limit, self._new_report(), self._clock()
        try:
            grant = await self._store.report(limit, report, now)
        except RetryableError:
            self.is_short = bool(report.needed)
            self._times.retry_later(now)
        except BaseException:  # Also CancelledError: no call may wait for a report that has ended.
            self._postpone_waiting()
            raise
        else:
            self._note_grant(grant, report, now)
            if self.limit > limit:  # It was raised meanwhile: ask again for what was refused.
                self.forget_exhaustion()
        self._serve_waiting()
        if self.is_short:
            self._postpone_waiting()

    def _note_grant(self, grant: BudgetGrant, report: BudgetReport, now: float) -> None:
        self.account, self._has_lease = grant.account, True
        self._ledger.balance += grant.amount
        self._reported_used = sum(report.spent.values()) + report.uncertain
        self._times.note_report(now)
        self.is_short = report.needed > grant.amount
        self._had_calls_when_refused = self.is_short and report.reserved > 0
        self.exhausted, self._exhausted_at = grant.exhausted, self._clock()
        self.exhausted_for = report.needed if grant.exhausted else None
        if grant.amount or not report.wanted:
            self._last_draw = grant.amount or self._last_draw
            self._times.note_grant(now)
        else:
            self._times.retry_later(now)

    def _postpone_waiting(self) -> None:
        for call in list(self._waiting):
            del self._waiting[call]
            if not call.turn.done():
                call.turn.set_exception(self._shortage(call.amount))

    async def leave(self) -> None:
        """Give back what is left, so that nobody waits for the lease to expire."""
        if self._report is not None:
            await self._report
        if self._ledger.used and not self._has_lease:  # By calls for which nothing was reserved.
            await self.report()
        if self._has_lease:
            self._ledger.empty()
            with suppress(RetryableError):
                await self._store.leave(self._new_report(), self._clock())


class ReportTimes:
    """They say when a worker reports to the account of a budget."""

    def __init__(self) -> None:
        self._reported_at = -inf
        self._next_at = -inf
        self._retries = 0

    def may_report(self, now: float) -> bool:
        return now >= self._next_at

    def is_due(self, now: float) -> bool:
        """Return whether the lease must be renewed."""
        return now - self._reported_at >= REPORT_SECONDS

    def note_report(self, now: float) -> None:
        self._reported_at = now

    def note_grant(self, now: float) -> None:
        self._next_at, self._retries = now + _MIN_INTERVAL_SECONDS, 0

    def retry_later(self, now: float) -> None:
        """Nothing was granted: ask again after 1, 2, 4, 8, 8, … seconds."""
        self._next_at = now + _FIRST_RETRY_SECONDS * (1 << self._retries)
        self._retries = min(_MAX_DOUBLINGS, self._retries + 1)

    def reset(self) -> None:
        self._next_at, self._retries = -inf, 0
