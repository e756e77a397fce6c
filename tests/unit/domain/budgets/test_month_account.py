"""How the workers of all runs of a workspace stay within its budgets of the day and of the month."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.month_account import (
    Announcement,
    MonthAccount,
    after_announcement,
    after_expiry,
    after_leave,
    after_report,
)
from cupel_core.domain.budgets.periods import PERIODS, BudgetScope, PeriodLimits
from cupel_core.domain.conversations.roles import ModelRole

TARGET = ModelRole.TARGET
DAY, MONTH = BudgetScope.DAY, BudgetScope.MONTH
FIRST, SECOND = date(2026, 11, 1), date(2026, 11, 2)


def limits(day: int | None = None, month: int | None = None) -> PeriodLimits:
    """In billionths of a USD."""
    return PeriodLimits(None if day is None else day / 10**9, None if month is None else month / 10**9)


def report(
    worker_id: str = "a", spent: int = 0, reserved: int = 0, needed: int = 10, wanted: int = 10**6, until: float = 150.0
) -> BudgetReport:
    return BudgetReport(worker_id, {TARGET: spent}, 0, reserved, needed, wanted, until)


def spend(account: MonthAccount, amount: int, on: date, worker_id: str = "a") -> MonthAccount:
    account = after_report(account, limits(), on, report(worker_id), 0.0)
    return after_leave(account, on, report(worker_id, spent=amount), 1.0)


def granted(account: MonthAccount, on: PeriodLimits, day: date, needed: int) -> int:
    return after_report(account, on, day, report("new", needed=needed), 2.0).of_day(day).leases["new"].reserved


def test_a_grant_is_within_the_budget_of_the_day_and_of_the_month() -> None:
    account = spend(spend(MonthAccount(), 60, FIRST), 20, SECOND)
    assert granted(account, limits(day=100), SECOND, 80) == 80
    assert granted(account, limits(day=100), SECOND, 81) == 0
    assert granted(account, limits(day=100, month=120), SECOND, 40) == 40
    assert granted(account, limits(day=100, month=120), SECOND, 41) == 0
    assert granted(account, limits(month=120), SECOND, 41) == 0


def awaited(account: MonthAccount, on: PeriodLimits, run_id: str) -> BudgetScope | None:
    return account.awaited_scope(on, SECOND, run_id, 3.0)


def test_runs_wait_for_what_other_runs_have_reserved_of_the_scarcer_budget() -> None:
    on = limits(day=100, month=150)
    account = after_report(
        spend(MonthAccount(), 20, FIRST), on, SECOND, replace(report(needed=80), run_id="first"), 1.0
    )
    account = after_report(account, on, SECOND, replace(report("b", needed=30), run_id="second"), 2.0)
    assert (awaited(account, on, "second"), awaited(account, on, "first")) == (DAY, None)
    assert awaited(account, limits(day=130, month=110), "second") is MONTH
    assert awaited(account, limits(day=130), "second") is None
    assert awaited(account, limits(), "second") is None
    assert account.awaited_scope(on, FIRST, "second", 3.0) is None


def test_the_refusals_of_several_runs_are_apart() -> None:
    on, account = limits(day=100), MonthAccount()
    for number, (worker_id, run_id, needed) in enumerate(
        [("a", "x", 90), ("b", "y", 30), ("c", "z", 20), ("c", "y", 0)]
    ):
        account = after_report(account, on, FIRST, replace(report(worker_id, needed=needed), run_id=run_id), number)
    assert {run_id: each.needed for run_id, each in account.of_day(FIRST).refusals.items()} == {"y": 30, "z": 20}


def test_a_new_day_begins_with_nothing_used_and_the_month_goes_on() -> None:
    account = spend(MonthAccount(), 60, FIRST)
    assert (account.used(DAY, SECOND), account.used(MONTH, SECOND)) == (0, 60)
    assert granted(account, limits(day=60), SECOND, 60) == 60


def test_money_that_was_drawn_on_a_day_belongs_to_it_although_it_is_spent_later() -> None:
    account = after_report(MonthAccount(), limits(day=100), FIRST, report(needed=50), 0.0)
    account = after_report(account, limits(day=100), SECOND, report("a-1", needed=100), 1.0)
    account = after_leave(account, FIRST, report(spent=50), 2.0)
    assert (account.used(DAY, FIRST), account.used(DAY, SECOND), account.reserved(DAY, SECOND)) == (50, 0, 100)


def test_a_dead_workers_lease_of_an_earlier_day_expires_with_the_next_report() -> None:
    account = after_report(MonthAccount(), limits(day=100), FIRST, report(needed=50), 0.0)
    account = after_report(account, limits(day=100), SECOND, report("b", until=400.0), 200.0)
    assert (account.uncertain(DAY, FIRST), account.reserved(DAY, FIRST), account.uncertain(MONTH, SECOND)) == (
        50,
        0,
        50,
    )


def test_the_scope_of_a_shortage_is_the_limit_with_the_least_left() -> None:
    account = spend(spend(MonthAccount(), 60, FIRST), 20, SECOND)
    assert account.exhausted_scope(limits(day=50, month=200), SECOND, 31) is DAY
    assert account.exhausted_scope(limits(day=50, month=100), SECOND, 31) is MONTH
    assert account.exhausted_scope(limits(day=50, month=200), SECOND, 30) is None


def test_nothing_is_exhausted_while_a_worker_may_give_back_enough() -> None:
    account = after_report(MonthAccount(), limits(month=100), FIRST, report(needed=80), 0.0)
    assert account.exhausted_scope(limits(month=100), SECOND, 50) is None
    assert account.exhausted_scope(limits(day=10, month=100), SECOND, 50) is DAY


def test_without_limits_everything_is_granted() -> None:
    assert granted(MonthAccount(), limits(), FIRST, 10**12) >= 10**12


def test_each_share_of_a_limit_is_announced_once_and_again_after_the_limit_or_the_period_changed() -> None:
    account = after_announcement(spend(MonthAccount(), 85, FIRST), limits(day=100, month=1_000), FIRST)
    assert account.announced == {DAY: Announcement("2026-11-01", 100, 80)}
    assert after_announcement(account, limits(day=100, month=1_000), FIRST) == account
    account = after_announcement(account, limits(day=90), FIRST)
    assert account.announced[DAY] == ("2026-11-01", 90, 80)
    account = after_announcement(account, limits(day=90), FIRST, exhausted=DAY)
    assert account.announced[DAY].percent == 100
    account = after_announcement(spend(account, 80, SECOND), limits(day=90), SECOND)
    assert account.announced[DAY] == ("2026-11-02", 90, 80)


class Spender:
    """A worker with one lease for each day on which it has drawn."""

    def __init__(self) -> None:
        self.balance = dict.fromkeys((FIRST, SECOND), 0)
        self.spent = dict.fromkeys((FIRST, SECOND), 0)

    @property
    def may_cost(self) -> int:
        return sum(self.balance.values()) + sum(self.spent.values())


WORKERS = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["report", "report", "lost request", "lost response", "spend", "spend", "die", "leave"]),
        st.sampled_from(WORKERS),
        st.sampled_from([FIRST, FIRST, SECOND]),
        st.integers(1, 60),
        st.floats(0, 60),
    ),
    max_size=80,
)
AMOUNTS = st.one_of(st.none(), st.integers(0, 400))


class Month:
    """Workers of several runs of a workspace over two days, in any order of calls, losses and deaths."""

    def __init__(self, limits: PeriodLimits) -> None:
        self.limits, self.account, self.now = limits, MonthAccount(), 0.0
        self.workers = {name: Spender() for name in WORKERS}
        self.names = {name: name for name in WORKERS}
        self.ended_may_cost = dict.fromkeys((FIRST, SECOND), 0)

    def may_cost(self, scope: BudgetScope, day: date) -> int:
        """What providers may bill in the end, if every call costs all that was reserved for it."""
        days = (day,) if scope is DAY else (FIRST, SECOND)
        living = sum(each.balance[day] + each.spent[day] for each in self.workers.values() for day in days)
        return living + sum(self.ended_may_cost[day] for day in days)

    def step(self, action: str, name: str, day: date, number: int, wait: float) -> None:
        self.now += wait
        worker = self.workers[name]
        match action:
            case "report" | "lost request" | "lost response":
                self._report(action, name, day, number)
            case "spend" if worker.balance[day] >= number:
                worker.balance[day] -= number
                worker.spent[day] += number
            case "die":
                self._replace(name, keep_balance=True)
            case "leave":
                for each in (FIRST, SECOND):
                    last = replace(report(self.names[name], worker.spent[each], needed=0), until=self.now)
                    self.account = after_leave(self.account, each, last, self.now)
                    worker.balance[each] = 0
                self._replace(name, keep_balance=False)

    def _report(self, action: str, name: str, day: date, number: int) -> None:
        worker = self.workers[name]
        if worker.balance[day] < number:
            worker.balance[day] = 0
        sent = report(
            self.names[name], worker.spent[day], worker.balance[day], number, 5 * number, until=self.now + 150
        )
        if action == "lost request":
            return
        self.account = after_report(self.account, self.limits, day, sent, self.now)
        if action == "report":
            worker.balance[day] = self.account.of_day(day).leases[self.names[name]].reserved

    def _replace(self, name: str, *, keep_balance: bool) -> None:
        worker, self.workers[name] = self.workers[name], Spender()
        for day in (FIRST, SECOND):
            self.ended_may_cost[day] += worker.spent[day] + keep_balance * worker.balance[day]
        self.names[name] += "'"


@given(AMOUNTS, AMOUNTS, STEPS)
def test_no_schedule_charges_or_reserves_more_than_a_limit(
    day: int | None, month: int | None, steps: list[tuple[str, str, date, int, float]]
) -> None:
    life = Month(limits(day, month))
    for step in steps:
        life.step(*step)
        for scope in PERIODS:
            for each in (FIRST, SECOND):
                available = life.account.available(scope, life.limits, each)
                assert available is None or available >= 0
                counted = life.account.used(scope, each) + life.account.reserved(scope, each)
                assert life.may_cost(scope, each) <= counted


@given(AMOUNTS, AMOUNTS, STEPS)
def test_a_month_is_the_sum_of_its_days_and_at_rest_nothing_is_reserved(
    day: int | None, month: int | None, steps: list[tuple[str, str, date, int, float]]
) -> None:
    life = Month(limits(day, month))
    for step in steps:
        life.step(*step)
    account = life.account
    assert account.used(MONTH, FIRST) == sum(account.used(DAY, each) for each in (FIRST, SECOND))
    rested = after_expiry(account, life.now + 150)
    assert rested.reserved(MONTH, FIRST) == 0
    assert rested.used(MONTH, FIRST) == account.used(MONTH, FIRST) + account.reserved(MONTH, FIRST)


@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, STEPS, STEPS)
def test_after_a_limit_was_lowered_nothing_is_granted_until_it_holds_again(
    day: int | None,
    month: int | None,
    lower_day: int | None,
    lower_month: int | None,
    before: list[tuple[str, str, date, int, float]],
    after: list[tuple[str, str, date, int, float]],
) -> None:
    life = Month(limits(day, month))
    for step in before:
        life.step(*step)
    life.limits = limits(lower_day, lower_month)
    for step in after:
        counted = {
            (scope, each): life.account.used(scope, each) + life.account.reserved(scope, each)
            for scope in PERIODS
            for each in (FIRST, SECOND)
        }
        life.step(*step)
        for (scope, each), earlier in counted.items():
            limit = life.limits.limit_of(scope)
            now = life.account.used(scope, each) + life.account.reserved(scope, each)
            assert limit is None or now <= max(earlier, limit)


@pytest.mark.parametrize("day", [FIRST, FIRST + timedelta(days=29)])
def test_the_last_report_of_a_worker_without_a_lease_changes_nothing(day: date) -> None:
    account = spend(MonthAccount(), 60, FIRST)
    assert after_leave(account, day, report("unknown", spent=5), 2.0) == account
