"""The allowances of one worker for the budgets of its runs and of their workspaces.

A worker draws nothing for runs that no budget limits. Conversations that start on another day are charged to that day,
through a separate lease. A run costs one write for each report, and two if it has a budget in addition to its
workspace's.
"""

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import AppError
from cupel_core.base.messages import RunRef
from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.pool import AllowancePool
from cupel_core.budgets.run_budgets import BudgetChanged, announce_usage, pause_exhausted_run
from cupel_core.budgets.workspace_budgets import BudgetKey, key_of_run, open_account, pause_for_period
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.budgets.run_budget import due_percent
from cupel_core.domain.runs.run import Run
from cupel_core.runs.probing.caches import PeriodLimitsCache
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store.clients import AWS_ERRORS


class RunAllowances:
    def __init__(
        self, worker_id: str, ends_at: float, clock: Callable[[], float], on_report: Callable[[], None]
    ) -> None:
        self._pool = AllowancePool(worker_id, open_account, ends_at=ends_at, clock=clock, on_report=self._note_report)
        self._on_report = on_report
        self._clock = clock
        self._limits = PeriodLimitsCache()
        self._current: dict[RunRef, BudgetKey] = {}
        self._runs: dict[RunRef, Run] = {}
        self._announcements: dict[RunRef, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(error_type, error, traceback)
        if error is None or isinstance(error, Exception):
            await self._limits.close()
            await asyncio.gather(*self._announcements.values())

    async def load_limits(self, workspace: str) -> None:
        """Read the budgets of a workspace. This must be awaited before its first call."""
        await self._limits.load(workspace)

    def of(self, run: Run) -> Allowance | None:
        """Return the allowance for the run's probes, with limits as they were last read, or None if no budget applies.
        A workspace's budget has one allowance per day: conversations that have started on a day are paid from its
        allowance."""
        ref = RunRef(run.workspace, run.id)
        known = self._runs.get(ref)
        if known is None or known.event_seq <= run.event_seq:
            known = run
        key = key_of_run(known, self._limits.of(run.workspace), self._clock())
        before = self._current.pop(ref, key)
        if before is not None and before != key:
            self._allowance(before, known).demand.forget_pending()
        if key is None:
            return None
        self._runs[ref], self._current[ref] = known, key
        return self._allowance(key, known)

    def _allowance(self, key: BudgetKey, run: Run) -> Allowance:
        return self._pool.allowance(key, run.budget.probe_limit if run.budget else 0)

    def report_pending(self, slices: Iterable[ClaimedSlice], room: int) -> None:
        slices = list(slices)
        self._limits.refresh_if_due({claimed.probe_slice.workspace for claimed in slices})
        waiting = dict.fromkeys(self._runs, 0)
        first_calls: dict[RunRef, list[int]] = {ref: [] for ref in self._runs}
        for claimed in slices:
            if claimed.pending and self.of(claimed.context.run) is not None:
                ref = claimed.probe_slice.run
                waiting[ref] = waiting.get(ref, 0) + len(claimed.pending)
                first_calls.setdefault(ref, []).append(claimed.context.opening_bound(claimed.pending[0]))
        for ref, count in waiting.items():
            if (allowance := self.of(self._runs[ref])) is not None:
                allowance.demand.pending = min(count, room)
                allowance.demand.first_call = min(first_calls[ref], default=0)

    async def pause_exhausted(self, run: Run, scope: BudgetScope, needed: int) -> None:
        """Pause the run, because this budget is used up. Raise BudgetChanged if it has a new limit, which the allowance
        now has."""
        if scope is not BudgetScope.RUN:
            await self._pause_for_period(run, needed)
            return
        run = self._runs.get(RunRef(run.workspace, run.id), run)
        allowance = self.of(run)
        if allowance is not None and not allowance.is_exhausted_for(needed):
            raise BudgetChanged(run)
        account = allowance.account if allowance else BudgetAccount()
        try:
            await asyncio.to_thread(pause_exhausted_run, run, account, needed, utc_now())
        except BudgetChanged as changed:
            self.of(changed.run)
            raise

    async def _pause_for_period(self, run: Run, needed: int) -> None:
        try:
            await asyncio.to_thread(pause_for_period, run, needed, utc_now())
        except BudgetChanged:
            if (allowance := self.of(run)) is not None:
                allowance.forget_exhaustion()
            raise

    def _note_report(self) -> None:
        for ref, run in self._runs.items():
            self._announce_if_due(ref, run)
        self._on_report()

    def _announce_if_due(self, ref: RunRef, run: Run) -> None:
        budget, allowance = run.budget, self.of(run)
        before = self._announcements.get(ref)
        if budget is None or allowance is None or (before is not None and not before.done()):
            return
        percent = due_percent(allowance.account.used, budget.limit, budget.announced_percent)
        if percent is not None:
            self._announcements[ref] = asyncio.create_task(self._announce(run, allowance.account, percent))

    async def _announce(self, run: Run, account: BudgetAccount, percent: int) -> None:
        """Announce how much of the run's budget is used. If that fails, it is repeated with the next report."""
        try:
            self.of(await asyncio.to_thread(announce_usage, run, account, percent, utc_now()))
        except (AppError, *AWS_ERRORS) as error:
            log_unforeseen(error, "the use of a budget could not be announced")
