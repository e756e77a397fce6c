"""The budgets of a workspace for days and months: workers' reports, events, and pauses of runs when one is used up.

They limit the calls of all runs of the workspace together, and those that belong to no run.
"""

import asyncio
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from aws_lambda_powertools import Logger

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import AppError, Conflict, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.budgets.accounts import AccountStore, BudgetGrant, JointAccount
from cupel_core.budgets.budget_metrics import publish_used
from cupel_core.budgets.run_budgets import BudgetChanged, TableAccount
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.money import limit_text, usd
from cupel_core.domain.budgets.month_account import MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits, period_name
from cupel_core.domain.budgets.run_budget import used_percent
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, PeriodPause, Run, RunEventType
from cupel_core.store import budgets, evaluation_settings, runs
from cupel_core.store.budgets import BudgetOwner, ReportResult, StoredMonth
from cupel_core.store.clients import AWS_ERRORS

logger = Logger(child=True)
FIELDS = {BudgetScope.DAY: "budgets.dayUsd", BudgetScope.MONTH: "budgets.monthUsd"}
"""The field of PUT /v1/settings that sets each budget."""


class BudgetKey(NamedTuple):
    workspace: str
    run: RunRef | None
    """None for calls that belong to no run."""
    owner: BudgetOwner | None
    """The run, rescore or generation whose own budget limits the calls. It is None if there is no own budget."""
    day: date | None
    """The workspace's budgets for this day and its month limit the calls. It is None if the workspace has no budget."""


@dataclass
class PeriodAccount:
    """The account of a workspace's day and month, for one worker. Limits are read with each report."""

    workspace: str
    day: date
    run: RunRef | None = None
    """The event is written for this run if it is the first to use a certain share of a limit."""
    _stored: StoredMonth | None = None

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        del limit  # It is the run's limit.
        try:
            return await asyncio.to_thread(self._report, report, now)
        except AWS_ERRORS as error:
            raise RetryableError("the account of the workspace's budget could not be written") from error

    async def leave(self, report: BudgetReport, now: float) -> None:
        try:
            await asyncio.to_thread(budgets.leave_month, self.workspace, self.day, report, now, self._stored)
        except AWS_ERRORS as error:
            raise RetryableError("the account of the workspace's budget could not be written") from error

    def _report(self, report: BudgetReport, now: float) -> BudgetGrant:
        limits = evaluation_settings.get_budgets(self.workspace)
        if self.run is not None:
            report = replace(report, run_id=self.run.run_id)
        result = budgets.report_to_month(self.workspace, limits, self.day, report, now, self._stored)
        self._stored, account = result.stored, result.stored.value
        _announce(self.run, limits, self.day, result)
        amount = account.of_day(self.day).leases[report.worker_id].reserved - report.reserved
        is_short = report.needed > amount
        return BudgetGrant(amount, account.exhausted_scope(limits, self.day, report.needed) if is_short else None)


def open_account(key: BudgetKey) -> AccountStore:
    of_run = TableAccount(key.owner) if key.owner is not None else None
    of_period = PeriodAccount(key.workspace, key.day, key.run) if key.day is not None else None
    if of_run is not None and of_period is not None:
        return JointAccount(of_period, of_run)
    account = of_period or of_run
    if account is None:
        raise ValueError("calls without a budget have no account")
    return account


def key_of_run(run: Run, limits: PeriodLimits, now: float) -> BudgetKey | None:
    """Return the key of the budgets that limit the run's calls, or None if nothing limits them."""
    if run.budget is None and not limits.is_set:
        return None
    ref, day = RunRef(run.workspace, run.id), limits.day_at(now) if limits.is_set else None
    return BudgetKey(run.workspace, ref, ref if run.budget else None, day)


def pause_for_period(run: Run, needed: int, now: datetime) -> None:
    """Pause a run because a budget of the workspace is used up, unless another worker or a user was faster. `needed` is
    the cost of the cheapest of its calls. Raise BudgetChanged if there is enough after all: the limit was raised, or
    another period has begun."""
    day, limits, account = get_use(run.workspace, now)
    scope = account.exhausted_scope(limits, day, needed)  # The scope differs if the day has ended since.
    if scope is None:
        raise BudgetChanged(run)
    ref = RunRef(run.workspace, run.id)
    try:
        _announce(ref, limits, day, budgets.announce_exhausted(run.workspace, limits, day, scope))
        runs.transition(
            ref,
            Action.PAUSE,
            now,
            fencing_token=run.fencing_token,
            event_data={"pauseReason": PauseReason.BUDGET, **_figures(limits, account, day, scope)},
            pause_reason=PauseReason.BUDGET,
            period_pause=PeriodPause(scope, needed),
        )
    except (IllegalTransition, Conflict, NotFound):
        return


class BudgetUse(NamedTuple):
    day: date
    limits: PeriodLimits
    account: MonthAccount


def get_use(workspace: str, now: datetime) -> BudgetUse:
    return _read_use(workspace, evaluation_settings.get_budgets(workspace), now)


def _read_use(workspace: str, limits: PeriodLimits, now: datetime) -> BudgetUse:
    day = limits.day_at(now.timestamp())
    return BudgetUse(day, limits, budgets.get_month(workspace, day))


def left(workspace: str, now: datetime) -> tuple[BudgetScope, int] | None:
    """Return the scarcer of the workspace's budgets and its rest, which may be negative, or None without a budget."""
    limits = evaluation_settings.get_budgets(workspace)
    if not limits.is_set:
        return None
    day, _, account = _read_use(workspace, limits, now)
    available, scope = account.scarcest(limits, day)
    return scope, available


def awaited_scope(workspace: str, run_id: str, now: datetime) -> BudgetScope | None:
    """Return the workspace's budget that is reserved for other calls, so that calls of the run wait for it."""
    limits = evaluation_settings.get_budgets(workspace)
    if not limits.is_set:
        return None
    day, _, account = _read_use(workspace, limits, now)
    return account.awaited_scope(limits, day, run_id, now.timestamp())


def shortage(workspace: str, needed: int, now: datetime) -> str | None:
    """Return why the workspace can make no call that needs this many nano-dollars, or None if it can make one."""
    limits = evaluation_settings.get_budgets(workspace)
    if not limits.is_set:
        return None
    day, _, account = _read_use(workspace, limits, now)
    available, scope = account.scarcest(limits, day)
    missing = max(1, needed) - available
    if missing <= 0:
        return None
    return (
        f"the workspace's budget of {limit_text(limits.usd_of(scope) or 0.0)} for the {scope} is used up, "
        f"and the next call needs {limit_text(usd(missing))} more; "
        f"wait until {limits.end_of(scope, day):%Y-%m-%dT%H:%MZ}, or raise {FIELDS[scope]}"
    )


def _announce(run: RunRef | None, limits: PeriodLimits, day: date, result: ReportResult) -> None:
    """Publish the metric, and write an event of the run that was the first to use so much, if it was one. Both are lost
    if the process ends before."""
    for scope, percent in result.announcements.items():
        publish_used(scope, percent)
        if run is None:
            continue
        limit, used = limits.limit_of(scope), result.stored.value.used(scope, day)
        share = used_percent(used, limit) if limit else None
        data = {"percent": percent, "usedPercent": share, **_figures(limits, result.stored.value, day, scope)}
        try:
            runs.append_event(run, RunEventType.BUDGET, utc_now(), data)
        except (AppError, *AWS_ERRORS):
            logger.exception("the use of a budget could not be announced", run_id=run.run_id)


def _figures(limits: PeriodLimits, account: MonthAccount, day: date, scope: BudgetScope) -> dict[str, object]:
    return {
        "scope": scope,
        "period": period_name(scope, day),
        "limitUsd": limits.usd_of(scope),
        "spentUsd": round(usd(sum(account.spent_by_role(scope, day).values())), 9),
        "uncertainUsd": round(usd(account.uncertain(scope, day)), 9),
    }
