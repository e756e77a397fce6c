"""What the provider of the models bills, and whether it stays within the run's budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.runs.run import PauseReason, Run
from cupel_core.domain.turns.model_request import Usage
from cupel_core.messages import RunRef
from cupel_core.providers.errors import ProviderError
from cupel_core.store import budgets, versioned_items
from tests.simulation.expressions import Item
from tests.simulation.harness import CALL_USD
from tests.simulation.scheduler import Violation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

CALL = nano_usd(CALL_USD)


class Bills:
    """Every call of a schedule is one of its run. Calls without an answer are billed, too, unless they were refused."""

    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self._billed = 0
        self._greatest_limit = 0

    def observe_run(self, run: Run, before: Run | None) -> None:
        if run.budget is None:
            return
        self._greatest_limit = max(self._greatest_limit, run.budget.limit)
        was_paused = before is not None and before.fencing_token == run.fencing_token
        if run.pause_reason == PauseReason.BUDGET and not was_paused:
            self._check_pause(run)

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
        run = self._cloud.invariants.run
        if run is None or run.budget is None:
            return
        account = self._account(run)
        counted = account.used + account.reserved
        violation = None
        if self._billed > self._greatest_limit:
            violation = Violation(f"9: {self._billed} are billed, the limit is {self._greatest_limit}")
        elif self._billed > counted:
            violation = Violation(f"9: {self._billed} are billed, but the account counts {counted}: {account}")
        if violation is not None:
            self._cloud.scheduler.fail(violation)
            raise violation

    def _check_pause(self, run: Run) -> None:
        """Only when workers cannot give back enough. With clocks that differ much, leases end early."""
        assert run.budget is not None
        account = self._account(run)
        left = account.available(run.budget.probe_limit) + account.reserved
        if left >= run.budget.needed_nano_usd and not self._cloud.has_large_skew:
            raise Violation(f"9: the run was paused although {left} may be left: {run.budget}, {account}")

    def check_at_rest(self, run: Run) -> None:
        if run.budget is None:
            return
        account = self._account(run)
        if account.used + account.reserved < self._billed:
            raise Violation(f"9: at rest {self._billed} are billed, but the account counts {account}")

    def _account(self, run: Run) -> BudgetAccount:
        item: Item = self._cloud.table.item(*budget_key(run))
        return versioned_items.from_item(item, budgets.CODEC).value


def budget_key(run: Run) -> tuple[str, str]:
    key = budgets.key_of(RunRef(run.workspace, run.id))
    return key["pk"]["S"], key["sk"]["S"]


def simulated_cost(_model: str, usage: Usage, *_: Any) -> float:
    """Every call costs the same, and at most three times as much."""
    return CALL_USD if usage.total <= Usage(1, 1).total else 3 * CALL_USD
