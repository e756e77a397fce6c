"""The part of a budget that one worker may spend: drawn for many calls with one request, and divided among them here.

Before a call, its maximum cost is reserved; afterwards, its cost is deducted and the rest is free again. Both happen at
once and in memory. The worker reports to the account at least once a minute, so that a dead worker's lease may expire
soon. Drawn and unspent money is uncertain when a worker dies, so it never draws much more than it needs.
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
"""A worker without work for the run returns its unspent grant after this time."""
EXHAUSTION_SECONDS = 5.0
"""A report that a budget is used up is trusted for this time, because limits can be raised and periods end."""
LOW_FRACTION = 0.25
"""With less than this share of the last draw left, a worker draws again in advance."""


REPORT_SECONDS = 60.0
"""A worker that has drawn or spent anything reports at least this often."""
_MIN_INTERVAL_SECONDS = 0.2
_FIRST_RETRY_SECONDS, _MAX_DOUBLINGS = 1.0, 3


class Allowance:
    """One worker's part of one budget. Amounts are in billionths of a USD."""

    def __init__(self, worker_id: str, account: AccountStore, clock: Callable[[], float], ends_at: float = inf) -> None:
        """`ends_at` is when the worker ends at the latest. Its lease expires then."""
        self.limit = 0
        self.demand = Demand()
        self.outputs = OutputLengths()
        self.account = BudgetAccount()
        self.exhausted_for: int | None = None
        """The minimum need of the waiting calls, if the budget will never allow it; otherwise None."""
        self.exhausted: BudgetScope | None = None
        self.is_short = False
        """True if the last report was granted less than the waiting calls need."""
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
        """Return the seconds after which pending conversations should be retried. It is None if they may start, or
        waiting is worth it: a conversation of this worker that ends may leave enough for another one."""
        is_refused = self.is_short and self.exhausted_for is None and not self._is_refusal_outdated
        is_waiting = is_refused and not self.demand.open_conversations
        return SHORTAGE_SECONDS if is_waiting and self._ledger.balance < self.demand.first_call else None

    def set_limit(self, limit: int) -> None:
        """Set the limit. A worker learns of a raised limit with the run, and draws again at once."""
        if limit > self.limit:
            self.forget_exhaustion()
        self.limit = limit

    def forget_exhaustion(self) -> None:
        """Make the next call that needs more than is left draw again."""
        self._times.reset()
        self.exhausted_for, self.exhausted, self.is_short = None, None, False

    def start_conversation(self, amount: int) -> OpeningReservation | None:
        """Reserve the cost of a conversation's first call. Return None if there is too little, or other calls wait for
        it."""
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
        """Return whether the last draw was refused while this worker's calls might have left enough, and none may now.
        The next report shows whether the budget is used up; requeuing its conversations would only delay that."""
        return self.is_short and self._had_calls_when_refused and not self._ledger.in_flight

    async def reserve(self, amount: int) -> float:
        """Reserve the maximum cost of a call. Return for how many seconds it has waited. Raise BudgetShortage if the
        budget does not allow it now."""
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
        """Deduct the cost of a call. The rest of its reservation is free again."""
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
        """Return whether the budget will not allow a call of this cost until its limit is raised or its period ends."""
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
        self._report = asyncio.create_task(self._send_report())
        return self._report

    def _new_report(self) -> BudgetReport:
        """Build a report. A balance that is too small for any call is returned first: others may need it."""
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
        """Return the smallest need of the waiting calls. Without any, that of the cheapest conversation counts."""
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
        except BaseException:  # This includes CancelledError: no call may wait for a report that has ended.
            self._postpone_waiting()
            raise
        else:
            self._note_grant(grant, report, now)
            if self.limit > limit:  # It was raised meanwhile, so the refused calls draw again.
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
        """Return the rest, so that no worker waits for the lease to expire."""
        if self._report is not None:
            await self._report
        if self._ledger.used and not self._has_lease:  # Calls without a reservation have used it.
            await self.report()
        if self._has_lease:
            self._ledger.empty()
            with suppress(RetryableError):
                await self._store.leave(self._new_report(), self._clock())


class ReportTimes:
    def __init__(self) -> None:
        self._reported_at = -inf
        self._next_at = -inf
        self._retries = 0

    def may_report(self, now: float) -> bool:
        return now >= self._next_at

    def is_due(self, now: float) -> bool:
        return now - self._reported_at >= REPORT_SECONDS

    def note_report(self, now: float) -> None:
        self._reported_at = now

    def note_grant(self, now: float) -> None:
        self._next_at, self._retries = now + _MIN_INTERVAL_SECONDS, 0

    def retry_later(self, now: float) -> None:
        """Schedule another draw after 1, 2, 4, 8, 8, … seconds, because nothing was granted."""
        self._next_at = now + _FIRST_RETRY_SECONDS * (1 << self._retries)
        self._retries = min(_MAX_DOUBLINGS, self._retries + 1)

    def reset(self) -> None:
        self._next_at, self._retries = -inf, 0
