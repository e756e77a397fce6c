"""What the provider of the models bills, and whether it stays within the budgets of the run and of its workspace."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.budgets.month_account import UNLIMITED, MonthAccount
from cupel_core.domain.budgets.periods import PERIODS, BudgetScope, PeriodLimits, period_name
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.runs.run import Run
from cupel_core.providers.errors import ProviderError
from cupel_core.store import budgets, keys, versioned_items
from tests.simulation.expressions import Item
from tests.simulation.harness import CALL_USD, DAY_SECONDS, FIRST_DAY, START
from tests.simulation.scheduler import Violation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

CALL = nano_usd(CALL_USD)
_MAX_LATE_SECONDS = 120.0
"""Clocks differ, and a write may take long after its report was made."""


class Bills:
    """Every call of a schedule is one of its run. Calls without an answer are billed, too, unless they were refused."""

    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self._billed = 0
        self._greatest_limit = 0
        self._greatest_limits: dict[BudgetScope, int] = {}
        """Of the workspace."""

    def note_limits(self, limits: PeriodLimits) -> None:
        """These are about to be set."""
        for scope in PERIODS:
            limit = limits.limit_of(scope)
            self._greatest_limits[scope] = max(
                UNLIMITED if limit is None else limit, self._greatest_limits.get(scope, 0)
            )

    def observe_run(self, run: Run, before: Run | None) -> None:
        if run.budget is None:
            return
        self._greatest_limit = max(self._greatest_limit, run.budget.limit)
        was_paused = before is not None and before.fencing_token == run.fencing_token
        if run.exhausted_budget is BudgetScope.RUN and not was_paused:
            self._check_pause(run)

    def observe_account(self, item: Item) -> None:
        """Each report ends the leases that are over, so that no run waits for what a dead worker has reserved."""
        now = START + self._cloud.scheduler.now
        leases = versioned_items.from_item(item, budgets.CODEC).value.leases
        over = {worker: lease for worker, lease in leases.items() if lease.until < now - _MAX_LATE_SECONDS}
        if over and not self._cloud.has_large_skew:
            raise Violation(f"9: at {now} the account has leases that are over: {over}")

    @contextmanager
    def call(self) -> Iterator[None]:
        """During one call of a model."""
        self._billed += CALL
        self._check()
        try:
            yield
        except ProviderError as error:
            if not error.may_be_billed:
                self._billed -= CALL
            raise

    def _check(self) -> None:
        """Ends the schedule itself, because the code under test might catch what is raised here."""
        broken = self._broken_by_run() or self._broken_by_workspace()
        if broken is not None:
            violation = Violation(f"9: {self._billed} are billed, {broken}")
            self._cloud.scheduler.fail(violation)
            raise violation

    def _broken_by_run(self) -> str | None:
        run = self._cloud.invariants.run
        if run is None or run.budget is None:
            return None
        account = self._account(run)
        counted = account.used + account.reserved
        if self._billed > self._greatest_limit:
            return f"the limit is {self._greatest_limit}"
        return f"but the account counts {counted}: {account}" if self._billed > counted else None

    def _broken_by_workspace(self) -> str | None:
        run = self._cloud.invariants.run
        if run is None or not self._cloud.has_workspace_budget:
            return None
        months, all_counted = self._months(run.workspace), 0
        for month in months:
            for day in month.days:
                for scope, limit in self._greatest_limits.items():
                    counted = month.used(scope, day) + month.reserved(scope, day)
                    if counted > limit:
                        return f"the {scope} of {day} counts {counted}, its limit is {limit}: {month}"
            all_counted += sum(each.used + each.reserved for each in month.days.values())
        return f"but the months count {all_counted}: {months}" if self._billed > all_counted else None

    def _check_pause(self, run: Run) -> None:
        """Only when workers cannot give back enough. With clocks that differ much, leases end early."""
        assert run.budget is not None
        account = self._account(run)
        left = account.available(run.budget.probe_limit) + account.reserved
        if left >= run.budget.needed_nano_usd and not self._cloud.has_large_skew:
            raise Violation(f"9: the run was paused although {left} may be left: {run.budget}, {account}")

    def check_at_rest(self, run: Run) -> None:
        if broken := self._broken_by_workspace():
            raise Violation(f"9: at rest {self._billed} are billed, {broken}")
        if run.budget is None:
            return
        account = self._account(run)
        if account.used + account.reserved < self._billed:
            raise Violation(f"9: at rest {self._billed} are billed, but the account counts {account}")

    def _months(self, workspace: str) -> list[MonthAccount]:
        days = self._cloud.scheduler.now // DAY_SECONDS + 10  # Clocks differ.
        names = {period_name(BudgetScope.MONTH, FIRST_DAY + timedelta(day)) for day in range(-10, int(days))}
        items = (self._cloud.table.item(keys.budgets(workspace), name) for name in sorted(names))
        return [versioned_items.from_item(item, budgets.MONTH_CODEC).value for item in items if item]

    def _account(self, run: Run) -> BudgetAccount:
        item: Item = self._cloud.table.item(*budget_key(run))
        return versioned_items.from_item(item, budgets.CODEC).value


def budget_key(run: Run) -> tuple[str, str]:
    key = budgets.key_of(RunRef(run.workspace, run.id))
    return key["pk"]["S"], key["sk"]["S"]


def simulated_cost(_model: str, usage: Usage, *_: Any) -> float:
    """Every call costs the same, and at most three times as much."""
    return CALL_USD if usage.total <= Usage(1, 1).total else 3 * CALL_USD
