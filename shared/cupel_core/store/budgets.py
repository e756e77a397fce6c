"""The accounts of budgets. A run, a rescore or a generation has one item; a workspace has one for each month.

All workers rewrite an item with optimistic locking. The item of a run is written once for about a hundred probes. A
worker's lease takes 60 bytes, so the item of a run with a hundred workers is 6 KB. The account of a month includes its
days, so that a worker's report is one write. The limits are stored in the workspace's settings.
"""

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets import month_account
from cupel_core.domain.budgets.account import (
    BudgetAccount,
    BudgetLease,
    BudgetReport,
    Refusal,
    after_leave,
    after_report,
)
from cupel_core.domain.budgets.money import SpentByRole
from cupel_core.domain.budgets.month_account import Announcement, MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits, period_name
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.store import keys, versioned_items
from cupel_core.store.batches import get_batch
from cupel_core.store.versioned_items import Versioned

type StoredMonth = Versioned[MonthAccount]


class RescoreRef(NamedTuple):
    run: RunRef
    rescore_id: str


class GenerationRef(NamedTuple):
    workspace: str
    definition_id: str
    generation_id: str


type BudgetOwner = RunRef | RescoreRef | GenerationRef
type StoredAccount = Versioned[BudgetAccount]
_SORT_KEY = "budget"


def report(
    owner: BudgetOwner, limit: int, budget_report: BudgetReport, now: float, last: StoredAccount | None = None
) -> StoredAccount:
    """Apply a worker's report. Its lease in the result says what it may spend. `last` is what this worker wrote last.
    It saves a read if no other worker has written since."""
    return _change(owner, lambda account: after_report(account, limit, budget_report, now), last)


def leave(owner: BudgetOwner, budget_report: BudgetReport, now: float, last: StoredAccount | None = None) -> None:
    _change(owner, lambda account: after_leave(account, budget_report, now), last)


def get(owner: BudgetOwner) -> BudgetAccount:
    """Return the account. It is empty if no worker has reported yet."""
    return versioned_items.read(key_of(owner), CODEC).value


def get_of_rescores(owners: Iterable[RescoreRef]) -> dict[RescoreRef, BudgetAccount]:
    """Return the accounts of these rescores with one request per hundred."""
    wanted = {(key["pk"]["S"], key["sk"]["S"]): owner for owner in owners for key in [key_of(owner)]}
    found = get_batch({"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in wanted)
    items = {(item["pk"]["S"], item["sk"]["S"]): item for item in found}
    return {owner: versioned_items.from_item(items.get(key), CODEC).value for key, owner in wanted.items()}


def get_all(refs: Iterable[RunRef]) -> dict[RunRef, BudgetAccount]:
    wanted = {keys.run(ref): ref for ref in refs}
    items = {item["pk"]["S"]: item for item in get_batch(map(key_of, wanted.values()))}
    return {ref: versioned_items.from_item(items.get(key), CODEC).value for key, ref in wanted.items()}


def _change(
    owner: BudgetOwner, change: Callable[[BudgetAccount], BudgetAccount], last: StoredAccount | None
) -> StoredAccount:
    is_alone = last is not None and len(last.value.leases) < 2
    return versioned_items.change(key_of(owner), CODEC, change, last if is_alone else None)


def key_of(owner: BudgetOwner) -> dict[str, Any]:
    if isinstance(owner, GenerationRef):
        pk = keys.definition(owner.workspace, owner.definition_id)
        return {"pk": {"S": pk}, "sk": {"S": f"{_SORT_KEY}#{owner.generation_id}"}}
    if isinstance(owner, RescoreRef):
        return {"pk": {"S": keys.run(owner.run)}, "sk": {"S": f"{_SORT_KEY}#{owner.rescore_id}"}}
    return {"pk": {"S": keys.run(owner)}, "sk": {"S": _SORT_KEY}}


def account_to_json(account: BudgetAccount) -> dict[str, Any]:
    return {
        "spent": _spent_json(account.spent),
        "uncertain": account.uncertain,
        "leases": {worker_id: _lease_json(lease) for worker_id, lease in account.leases.items()},
        "expired": {worker_id: _lease_json(lease) for worker_id, lease in account.expired.items()},
        **({"refusals": {run_id: list(each) for run_id, each in account.refusals.items()}} if account.refusals else {}),
    }


def account_from_json(body: dict[str, Any]) -> BudgetAccount:
    return BudgetAccount(
        spent=_spent(body["spent"]),
        uncertain=body["uncertain"],
        leases={worker_id: _lease(stored) for worker_id, stored in body["leases"].items()},
        expired={worker_id: _lease(stored) for worker_id, stored in body["expired"].items()},
        refusals={run_id: Refusal(*stored) for run_id, stored in body.get("refusals", {}).items()},
    )


def _lease_json(lease: BudgetLease) -> list[Any]:
    return [_spent_json(lease.spent), lease.uncertain, lease.reserved, lease.until]


def _lease(stored: list[Any]) -> BudgetLease:
    spent, uncertain, reserved, until = stored
    return BudgetLease(_spent(spent), uncertain, reserved, until)


def _spent_json(spent: SpentByRole) -> dict[str, int]:
    return {str(role): amount for role, amount in spent.items()}


def _spent(stored: dict[str, int]) -> SpentByRole:
    return {ModelRole(role): amount for role, amount in stored.items()}


class _AccountCodec:
    name = "the budget"
    default = BudgetAccount
    encode = staticmethod(account_to_json)
    decode = staticmethod(account_from_json)


CODEC = _AccountCodec()


class ReportResult(NamedTuple):
    stored: StoredMonth
    announcements: dict[BudgetScope, int]
    """The share in percent that this report was the first to reach, by scope."""


def get_month(workspace: str, day: date) -> MonthAccount:
    """Return the account of the month of this day. It is empty if no worker has reported yet."""
    return versioned_items.read(_key_of_month(workspace, day), MONTH_CODEC).value


def report_to_month(
    workspace: str,
    limits: PeriodLimits,
    day: date,
    budget_report: BudgetReport,
    now: float,
    last: StoredMonth | None = None,
) -> ReportResult:
    """Apply a worker's report about a day. Its lease in the result says what it may spend. `last` is what this worker
    wrote last. It saves a read if no other worker has written since."""

    def apply(account: MonthAccount) -> MonthAccount:
        return month_account.after_announcement(
            month_account.after_report(account, limits, day, budget_report, now), limits, day
        )

    return _change_month(workspace, day, apply, last)


def announce_exhausted(workspace: str, limits: PeriodLimits, day: date, scope: BudgetScope) -> ReportResult:
    """Record that no more of a period's limit can be used."""
    return _change_month(
        workspace, day, lambda account: month_account.after_announcement(account, limits, day, scope), None
    )


def leave_month(
    workspace: str, day: date, budget_report: BudgetReport, now: float, last: StoredMonth | None = None
) -> ReportResult:
    return _change_month(
        workspace, day, lambda account: month_account.after_leave(account, day, budget_report, now), last
    )


def _change_month(
    workspace: str, day: date, change: Callable[[MonthAccount], MonthAccount], last: StoredMonth | None
) -> ReportResult:
    before = MonthAccount()

    def apply(account: MonthAccount) -> MonthAccount:
        nonlocal before
        before = account
        return change(account)

    is_alone = last is not None and len(last.value.of_day(day).leases) < 2
    stored = versioned_items.change(_key_of_month(workspace, day), MONTH_CODEC, apply, last if is_alone else None)
    after = stored.value.announced
    new = {scope: each.percent for scope, each in after.items() if each != before.announced.get(scope)}
    return ReportResult(stored, new)


def _key_of_month(workspace: str, day: date) -> dict[str, Any]:
    return {"pk": {"S": keys.budgets(workspace)}, "sk": {"S": period_name(BudgetScope.MONTH, day)}}


def _month_to_json(account: MonthAccount) -> dict[str, Any]:
    return {
        "days": {day.isoformat(): account_to_json(each) for day, each in account.days.items()},
        "announced": {str(scope): list(each) for scope, each in account.announced.items()},
    }


def _month_from_json(body: dict[str, Any]) -> MonthAccount:
    return MonthAccount(
        days={date.fromisoformat(day): account_from_json(each) for day, each in body["days"].items()},
        announced={BudgetScope(scope): Announcement(*each) for scope, each in body["announced"].items()},
    )


class _MonthCodec:
    name = "the workspace's budget"
    default = MonthAccount
    encode = staticmethod(_month_to_json)
    decode = staticmethod(_month_from_json)


MONTH_CODEC = _MonthCodec()
