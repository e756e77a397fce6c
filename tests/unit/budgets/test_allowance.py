"""One worker's part of a budget: what its calls may reserve, and when it draws more."""

import asyncio
from collections.abc import Callable
from math import inf

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.budgets.accounts import BudgetGrant, MemoryAccount
from cupel_core.budgets.allowance import IDLE_SECONDS, LEASE_SECONDS, REPORT_SECONDS, Allowance
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.roles import ModelRole

TARGET = ModelRole.TARGET
LIMIT = 10_000


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class CountedAccount(MemoryAccount):
    """Counts reports; loses the requests or the responses of some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[BudgetReport] = []
        self.loses_requests = self.loses_responses = False
        self.before_response: Callable[[], None] | None = None

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        self.reports.append(report)
        if self.loses_requests:
            raise RetryableError("lost")
        grant = await super().report(limit, report, now)
        if self.before_response:
            self.before_response()
        if self.loses_responses:
            raise RetryableError("lost")
        return grant


class Driven:
    """An allowance with its clock and its account."""

    def __init__(self, limit: int = LIMIT, ends_at: float = inf) -> None:
        self.clock, self.account = Clock(), CountedAccount()
        self.allowance = Allowance("w", self.account, self.clock, ends_at)
        self.allowance.set_limit(limit)

    def wait_for(self, conversations: int, first_call: int) -> None:
        self.allowance.demand.pending, self.allowance.demand.first_call = conversations, first_call

    async def call(self, reserved: int, cost: int) -> None:
        await self.allowance.reserve(reserved)
        self.allowance.settle(reserved, cost, TARGET)


async def test_a_call_draws_what_it_needs_and_gives_the_rest_back() -> None:
    driven = Driven()
    await driven.call(reserved=100, cost=30)
    await driven.allowance.leave()
    account = driven.account.account
    assert (account.spent_by_role, account.reserved, account.leases) == ({TARGET: 30}, 0, {})


async def test_many_calls_are_paid_from_one_draw() -> None:
    driven = Driven(limit=10**9)
    driven.wait_for(100, 100)
    await driven.allowance.report()
    for _ in range(100):
        await driven.call(reserved=100, cost=30)
    assert len(driven.account.reports) == 1


async def test_a_conversation_starts_only_with_its_first_call_reserved() -> None:
    driven = Driven()
    driven.wait_for(3, 100)
    assert driven.allowance.start_conversation(100) is None
    assert driven.allowance.is_report_due
    await driven.allowance.report()
    opening = driven.allowance.start_conversation(100)
    assert opening is not None
    opening.release()
    await driven.call(reserved=100, cost=100)


async def test_what_a_conversation_has_set_aside_is_released_once() -> None:
    driven = Driven(limit=400)
    driven.wait_for(1, 100)
    await driven.allowance.report()
    opening = driven.allowance.start_conversation(100)
    assert opening is not None
    assert driven.allowance.start_conversation(100) is None
    opening.release()
    opening.release()
    assert driven.allowance.start_conversation(100) is not None
    assert driven.allowance.start_conversation(100) is None


async def test_a_call_that_the_budget_does_not_allow_is_postponed() -> None:
    driven = Driven(limit=100)
    with pytest.raises(BudgetShortage) as shortage:
        await driven.allowance.reserve(101)
    assert shortage.value.exhausted is BudgetScope.RUN
    assert driven.allowance.exhausted_for == 101


async def test_a_budget_is_not_exhausted_while_a_call_in_flight_may_cost_less() -> None:
    driven = Driven(limit=100)
    await driven.allowance.reserve(80)
    with pytest.raises(BudgetShortage) as shortage:
        await driven.allowance.reserve(50)
    assert shortage.value.exhausted is None
    driven.allowance.settle(80, 10, TARGET)
    await driven.call(reserved=50, cost=50)


async def test_a_budget_is_exhausted_for_a_call_that_waits_although_a_cheaper_conversation_could_start() -> None:
    """No conversation starts while a call waits, so it would wait in vain for one that ends."""
    driven = Driven(limit=100)
    driven.wait_for(conversations=2, first_call=40)
    await driven.allowance.report()
    with pytest.raises(BudgetShortage) as shortage:
        async with asyncio.timeout(5):  # Only guards against a hang.
            await driven.allowance.reserve(200)
    assert shortage.value.exhausted is BudgetScope.RUN


async def test_a_worker_whose_last_call_has_ended_asks_again_before_it_requeues_its_conversations() -> None:
    """It was refused while that call might still have left enough: only now is the budget known to be used up."""
    driven = Driven(limit=100)
    allowance = driven.allowance
    driven.wait_for(2, first_call=60)
    await allowance.report()
    opening = allowance.start_conversation(60)
    assert opening is not None
    driven.wait_for(1, first_call=60)
    driven.clock.now += 1.0
    await allowance.report()
    assert (allowance.is_short, allowance.exhausted) == (True, None)
    opening.release()
    await driven.call(reserved=60, cost=55)
    allowance.end_conversation()
    assert allowance.requeue_delay_seconds() is None
    assert allowance.is_report_due
    await allowance.report()
    assert allowance.exhausted is BudgetScope.RUN
    assert allowance.is_exhausted_for(60)


async def test_while_other_workers_may_leave_enough_conversations_are_requeued() -> None:
    driven = Driven(limit=100)
    other = BudgetReport("other", {}, 0, 0, 90, 90, LEASE_SECONDS)
    await driven.account.report(100, other, 0.0)
    driven.wait_for(1, first_call=60)
    await driven.allowance.report()
    assert driven.allowance.exhausted is None
    assert driven.allowance.requeue_delay_seconds() is not None


async def test_after_a_refusal_the_account_is_not_asked_for_every_call() -> None:
    driven = Driven(limit=100)
    for _ in range(5):
        with pytest.raises(BudgetShortage):
            await driven.allowance.reserve(200)
    assert len(driven.account.reports) == 1
    driven.clock.now += 1.0
    with pytest.raises(BudgetShortage):
        await driven.allowance.reserve(200)
    assert len(driven.account.reports) == 2


async def test_a_raised_limit_takes_effect_at_once() -> None:
    driven = Driven(limit=100)
    with pytest.raises(BudgetShortage):
        await driven.allowance.reserve(200)
    driven.allowance.set_limit(1_000)
    await driven.call(reserved=200, cost=200)


async def test_a_refusal_is_outdated_if_the_limit_was_raised_during_the_report() -> None:
    driven = Driven(limit=100)
    driven.wait_for(1, 200)
    driven.account.before_response = lambda: driven.allowance.set_limit(1_000)
    await driven.allowance.report()
    assert (driven.allowance.exhausted, driven.allowance.is_exhausted_for(200)) == (None, False)
    assert driven.allowance.is_report_due
    await driven.allowance.report()
    assert driven.allowance.start_conversation(200)


async def test_calls_that_wait_for_one_draw_share_it() -> None:
    driven = Driven(limit=10**6)
    await asyncio.gather(*(driven.call(reserved=100, cost=50) for _ in range(20)))
    assert len(driven.account.reports) <= 2
    assert driven.allowance._ledger.used == 20 * 50


async def test_a_cancelled_call_leaves_nothing_reserved() -> None:
    driven = Driven()
    call = asyncio.create_task(driven.allowance.reserve(100))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await driven.allowance.leave()
    assert driven.account.account.used == 0


async def test_a_worker_draws_again_before_it_has_nothing_left() -> None:
    driven = Driven(limit=10**6)
    driven.wait_for(10, 100)
    await driven.allowance.report()
    driven.clock.now += 1
    assert not driven.allowance.is_report_due
    for _ in range(8):
        await driven.call(reserved=100, cost=100)
    assert driven.allowance.is_report_due


async def test_a_worker_reports_at_least_once_a_minute() -> None:
    driven = Driven(limit=10**6)
    driven.wait_for(100, 100)
    await driven.allowance.report()
    await driven.call(reserved=100, cost=100)
    driven.clock.now += REPORT_SECONDS - 1
    assert not driven.allowance.is_report_due
    driven.clock.now += 1
    assert driven.allowance.is_report_due


async def test_a_worker_without_work_gives_back_what_it_has_drawn_and_is_quiet_then() -> None:
    driven = Driven()
    await driven.call(reserved=100, cost=30)
    driven.clock.now += IDLE_SECONDS + 1
    assert driven.allowance.is_report_due
    await driven.allowance.report()
    driven.clock.now += REPORT_SECONDS
    assert not driven.allowance.is_report_due
    assert driven.account.account.reserved == 0


async def test_free_calls_need_no_report() -> None:
    driven = Driven()
    driven.wait_for(100, 0)
    assert driven.allowance.start_conversation(0) is not None
    await driven.call(reserved=0, cost=0)
    driven.clock.now += REPORT_SECONDS
    assert not driven.allowance.is_report_due
    await driven.allowance.leave()
    assert driven.account.reports == []


async def test_after_a_lost_response_what_was_given_back_is_not_spent() -> None:
    driven = Driven(limit=300)
    await driven.call(reserved=200, cost=150)
    driven.account.loses_responses = True
    driven.clock.now += 1
    with pytest.raises(BudgetShortage) as shortage:
        await driven.allowance.reserve(100)
    assert shortage.value.exhausted is None
    driven.account.loses_responses = False
    driven.clock.now += 10
    await driven.call(reserved=100, cost=100)
    assert driven.account.account.available(300) >= 0


async def test_while_the_table_is_unavailable_what_was_drawn_may_be_spent() -> None:
    driven = Driven(limit=10**6)
    driven.wait_for(10, 100)
    await driven.allowance.report()
    driven.account.loses_requests = True
    driven.wait_for(0, 100)
    for _ in range(10):
        await driven.call(reserved=100, cost=100)
    with pytest.raises(BudgetShortage) as shortage:
        await driven.allowance.reserve(100)
    assert shortage.value.exhausted is None


async def test_a_call_that_cost_more_than_was_reserved_is_deducted_from_what_is_left() -> None:
    driven = Driven(limit=1_000)
    await driven.call(reserved=100, cost=950)
    with pytest.raises(BudgetShortage) as shortage:
        await driven.allowance.reserve(100)
    assert shortage.value.exhausted is BudgetScope.RUN
    assert driven.account.account.used == 950


async def test_a_lease_never_outlives_its_worker() -> None:
    driven = Driven(ends_at=100.0)
    await driven.call(reserved=100, cost=1)
    assert driven.account.account.leases["w"].until == 100.0
    assert LEASE_SECONDS > REPORT_SECONDS
