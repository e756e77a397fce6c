"""What is charged to the budgets of a workspace for days and months: one item for each month.

The account of a month has those of its days, so that a worker's report is one write. All workers of the workspace
rewrite it with optimistic locking, like the account of a run. The limits are among the workspace's settings.
"""

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.month_account import (
    Announcement,
    MonthAccount,
    after_announcement,
    after_leave,
    after_report,
)
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits, period_name
from cupel_core.store import keys, versioned_items
from cupel_core.store.budgets import account_from_json, account_to_json
from cupel_core.store.versioned_items import Versioned

type StoredMonth = Versioned[MonthAccount]


class ReportResult(NamedTuple):
    stored: StoredMonth
    announcements: dict[BudgetScope, int]
    """The shares in percent that this report was the first to reach."""


def get(workspace: str, day: date) -> MonthAccount:
    """The account of the month of this day; empty if no worker has reported yet."""
    return versioned_items.read(_key_of(workspace, day), CODEC).value


def report(
    workspace: str,
    limits: PeriodLimits,
    day: date,
    budget_report: BudgetReport,
    now: float,
    last: StoredMonth | None = None,
) -> ReportResult:
    """Apply a worker's report about a day; its lease there says what it may spend.

    `last` is what this worker wrote last, which saves one that is alone a read.
    """

    def apply(account: MonthAccount) -> MonthAccount:
        return after_announcement(after_report(account, limits, day, budget_report, now), limits, day)

    return _change(workspace, day, apply, last)


def announce_exhausted(workspace: str, limits: PeriodLimits, day: date, scope: BudgetScope) -> ReportResult:
    """Note that no more of a period's limit can be used."""
    return _change(workspace, day, lambda account: after_announcement(account, limits, day, scope), None)


def leave(
    workspace: str, day: date, budget_report: BudgetReport, now: float, last: StoredMonth | None = None
) -> ReportResult:
    """Apply a worker's last report about a day and end its lease there."""
    return _change(workspace, day, lambda account: after_leave(account, day, budget_report, now), last)


def _change(
    workspace: str, day: date, change: Callable[[MonthAccount], MonthAccount], last: StoredMonth | None
) -> ReportResult:
    before = MonthAccount()

    def apply(account: MonthAccount) -> MonthAccount:
        nonlocal before
        before = account
        return change(account)

    is_alone = last is not None and len(last.value.of_day(day).leases) < 2
    stored = versioned_items.change(_key_of(workspace, day), CODEC, apply, last if is_alone else None)
    after = stored.value.announced
    new = {scope: each.percent for scope, each in after.items() if each != before.announced.get(scope)}
    return ReportResult(stored, new)


def _key_of(workspace: str, day: date) -> dict[str, Any]:
    return {"pk": {"S": keys.budgets(workspace)}, "sk": {"S": period_name(BudgetScope.MONTH, day)}}


def _to_json(account: MonthAccount) -> dict[str, Any]:
    return {
        "days": {day.isoformat(): account_to_json(each) for day, each in account.days.items()},
        "announced": {str(scope): list(each) for scope, each in account.announced.items()},
    }


def _from_json(body: dict[str, Any]) -> MonthAccount:
    return MonthAccount(
        days={date.fromisoformat(day): account_from_json(each) for day, each in body["days"].items()},
        announced={BudgetScope(scope): Announcement(*each) for scope, each in body["announced"].items()},
    )


class _MonthCodec:
    name = "the workspace's budget"
    default = MonthAccount
    encode = staticmethod(_to_json)
    decode = staticmethod(_from_json)


CODEC = _MonthCodec()
