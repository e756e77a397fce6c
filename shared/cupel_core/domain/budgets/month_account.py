"""Accounts for what is charged to the budgets of a workspace's calendar month and of its days.

Each day has an account, whose leases belong to workers. The month's figures are the sums of its days, so one write
changes both, and they can never disagree. Money belongs to the day in which it was drawn: a worker that draws on
another day has another lease there.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import date
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets import account as day_account
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport
from cupel_core.domain.budgets.money import SpentByRole, added
from cupel_core.domain.budgets.periods import PERIODS, BudgetScope, PeriodLimits, period_name
from cupel_core.domain.budgets.run_budget import due_percent

UNLIMITED = 10**18
"""The limit of workers that still report after the limits were removed."""


class Announcement(NamedTuple):
    """Records the greatest share of a period's limit for which there is an event."""

    period: str
    limit: int
    percent: int


@dataclass(frozen=True)
class MonthAccount:
    """Amounts are in billionths of a USD."""

    days: Mapping[date, BudgetAccount] = field(default_factory=dict)
    announced: Mapping[BudgetScope, Announcement] = field(default_factory=dict)

    def of_day(self, day: date) -> BudgetAccount:
        return self.days.get(day, BudgetAccount())

    def _accounts(self, scope: BudgetScope, day: date) -> list[BudgetAccount]:
        return [self.of_day(day)] if scope is BudgetScope.DAY else list(self.days.values())

    def spent_by_role(self, scope: BudgetScope, day: date) -> SpentByRole:
        amounts: SpentByRole = {}
        for each in self._accounts(scope, day):
            amounts = added(amounts, each.spent_by_role)
        return amounts

    def uncertain(self, scope: BudgetScope, day: date) -> int:
        return sum(each.total_uncertain for each in self._accounts(scope, day))

    def used(self, scope: BudgetScope, day: date) -> int:
        return sum(each.used for each in self._accounts(scope, day))

    def reserved(self, scope: BudgetScope, day: date) -> int:
        return sum(each.reserved for each in self._accounts(scope, day))

    def available(self, scope: BudgetScope, limits: PeriodLimits, day: date) -> int | None:
        """Return what can still be granted; None without a limit. It is negative after the limit was lowered."""
        limit = limits.limit_of(scope)
        return None if limit is None else limit - self.used(scope, day) - self.reserved(scope, day)

    def scarcest(self, limits: PeriodLimits, day: date) -> tuple[int, BudgetScope]:
        """Return the smaller of the amounts that both limits allow, and its scope."""
        left = [(amount, scope) for scope in PERIODS if (amount := self.available(scope, limits, day)) is not None]
        return min(left, default=(UNLIMITED, BudgetScope.DAY))

    def exhausted_scope(self, limits: PeriodLimits, day: date, needed: int) -> BudgetScope | None:
        """Return the scope with too little available and nothing that workers could return; None if neither is
        exhausted."""
        available, scope = self.scarcest(limits, day)
        return scope if available < needed and not self.reserved(scope, day) else None

    def awaited_scope(self, limits: PeriodLimits, day: date, run_id: str, now: float) -> BudgetScope | None:
        """Return the scope whose remaining amount is reserved for others while calls of the run wait for it."""
        current = after_expiry(self, now)
        available, scope = current.scarcest(limits, day)
        is_awaited = current.reserved(scope, day) and available < current.of_day(day).needed_by(run_id, now)
        return scope if is_awaited else None


def after_report(
    account: MonthAccount, limits: PeriodLimits, day: date, report: BudgetReport, now: float
) -> MonthAccount:
    """Return the account after a worker's report about what it has drawn on `day`; a grant is within both limits."""
    account = after_expiry(account, now)
    before = account.of_day(day)
    limit = account.scarcest(limits, day)[0] + before.used + before.reserved
    return _with_day(account, day, day_account.after_report(before, limit, report, now))


def after_leave(account: MonthAccount, day: date, report: BudgetReport, now: float) -> MonthAccount:
    account = after_expiry(account, now)
    return _with_day(account, day, day_account.after_leave(account.of_day(day), report, now))


def after_expiry(account: MonthAccount, now: float) -> MonthAccount:
    """Return the account after leases that have run out expired, also those of earlier days."""
    return replace(account, days={day: day_account.after_expiry(each, now) for day, each in account.days.items()})


def after_announcement(
    account: MonthAccount, limits: PeriodLimits, day: date, exhausted: BudgetScope | None = None
) -> MonthAccount:
    """Return the account with the shares in use marked as announced, and the whole limit of an exhausted period."""
    announced = dict(account.announced)
    for scope in PERIODS:
        limit, period = limits.limit_of(scope), period_name(scope, day)
        if limit is None:
            continue
        before = announced.get(scope)
        known = before.percent if before and (before.period, before.limit) == (period, limit) else 0
        used = limit if scope is exhausted else account.used(scope, day)
        if (percent := due_percent(used, limit, known)) is not None:
            announced[scope] = Announcement(period, limit, percent)
    return replace(account, announced=announced)


def _with_day(account: MonthAccount, day: date, changed: BudgetAccount) -> MonthAccount:
    return account if changed == account.of_day(day) else replace(account, days={**account.days, day: changed})
