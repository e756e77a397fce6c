"""The budgets of runs in the table: workers' reports, events, and the pause of a run whose budget is used up."""

import asyncio
from dataclasses import replace
from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.budgets.accounts import BudgetGrant
from cupel_core.budgets.budget_metrics import publish_used
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.budgets.run_budget import SHARES, RunBudget, used_percent
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, Run, RunEventType
from cupel_core.store import budgets, runs
from cupel_core.store.budgets import BudgetOwner, StoredAccount
from cupel_core.store.clients import AWS_ERRORS


@dataclass
class TableAccount:
    owner: BudgetOwner
    _stored: StoredAccount | None = None

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        try:
            self._stored = await asyncio.to_thread(budgets.report, self.owner, limit, report, now, self._stored)
        except AWS_ERRORS as error:
            raise RetryableError("the budget's account could not be written") from error
        return BudgetGrant.of(self._stored.value, limit, report)

    async def leave(self, report: BudgetReport, now: float) -> None:
        try:
            await asyncio.to_thread(budgets.leave, self.owner, report, now, self._stored)
        except AWS_ERRORS as error:
            raise RetryableError("the budget's account could not be written") from error


def announce_usage(run: Run, account: BudgetAccount, percent: int, now: datetime) -> Run:
    """Write the events that this share of the budget is used, once per share and limit. Return the run."""
    for share in SHARES:
        if share <= percent:
            run = _announce_share(run, account, share, now)
    return run


def _announce_share(run: Run, account: BudgetAccount, percent: int, now: datetime) -> Run:
    if run.budget is not None and percent <= run.budget.announced_percent:
        return run
    is_new = False

    def note(budget: RunBudget) -> RunBudget:
        nonlocal is_new
        is_new = run.budget is not None and budget.max_usd == run.budget.max_usd and percent > budget.announced_percent
        return replace(budget, announced_percent=percent) if is_new else budget

    used = used_percent(account.used, run.budget.limit) if run.budget else None
    data: dict[str, object] = {"percent": percent, "usedPercent": used, **_figures(run, account)}
    changed = runs.change_budget(RunRef(run.workspace, run.id), note, RunEventType.BUDGET, data, now)
    if is_new:
        publish_used(BudgetScope.RUN, percent)
    return changed


class BudgetChanged(RetryableError):
    """The limit has changed since the budget was found to be exhausted."""

    title = "The budget was changed"

    def __init__(self, run: Run) -> None:
        super().__init__("the run's budget was changed; try again")
        self.run = run


def pause_exhausted_run(run: Run, account: BudgetAccount, needed: int, now: datetime) -> None:
    """Pause the run, unless another worker or a user was faster. Raise BudgetChanged. `needed` is the cost of the
    cheapest of its calls, in billionths of a USD."""
    budget, ref = run.budget, RunRef(run.workspace, run.id)
    if budget is None:
        return

    def require_same_limit(current: Run) -> None:
        if current.budget is None or current.budget.max_usd != budget.max_usd:
            raise BudgetChanged(current)

    try:
        announce_usage(run, account, 100, now)
        runs.transition(
            ref,
            Action.PAUSE,
            now,
            fencing_token=run.fencing_token,
            event_data={"pauseReason": PauseReason.BUDGET, **_figures(run, account)},
            guard=require_same_limit,
            pause_reason=PauseReason.BUDGET,
            period_pause=None,
            budget=replace(budget, announced_percent=100, needed_nano_usd=needed),
        )
    except (IllegalTransition, Conflict, NotFound):
        return


def _figures(run: Run, account: BudgetAccount) -> dict[str, object]:
    return {
        "scope": BudgetScope.RUN,
        "maxBudgetUsd": run.budget.max_usd if run.budget else None,
        "spentUsd": account.spent_usd,
        "uncertainUsd": account.uncertain_usd,
    }
