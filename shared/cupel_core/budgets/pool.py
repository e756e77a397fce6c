"""The allowances of one worker: one for each run and day with a budget, reported until the worker ends.

A worker without such runs makes no request for this, and has no task.
"""

import asyncio
import time
from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Self

from cupel_core.budgets.accounts import AccountStore
from cupel_core.budgets.allowance import Allowance

CHECK_INTERVAL_SECONDS = 0.1


def _ignore() -> None:
    return


class AllowancePool[Budget: Hashable]:
    """Opens the account of each budget with `open_account`. Any value may be its key."""

    def __init__(
        self,
        worker_id: str,
        open_account: Callable[[Budget], AccountStore],
        *,
        ends_at: float,
        clock: Callable[[], float] = time.time,
        on_report: Callable[[], None] = _ignore,
    ) -> None:
        self._worker_id = worker_id
        self._open_account = open_account
        self._ends_at = ends_at
        self._clock = clock
        self._on_report = on_report
        self._allowances: dict[Budget, Allowance] = {}
        self._reports: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Return the rest of the allowances. The leases of a worker that is cancelled expire."""
        if self._reports is not None:
            self._reports.cancel()
        if error is None or isinstance(error, Exception):
            await asyncio.gather(*(allowance.leave() for allowance in self._allowances.values()))

    def allowance(self, budget: Budget, limit: int) -> Allowance:
        if budget not in self._allowances:
            account = self._open_account(budget)
            self._allowances[budget] = Allowance(self._new_lease_id(), account, self._clock, self._ends_at)
            self._reports = self._reports or asyncio.create_task(self._report_periodically())
        allowance = self._allowances[budget]
        allowance.set_limit(limit)
        return allowance

    def _new_lease_id(self) -> str:
        """Return a new id, because two allowances may have leases in the same account, each with figures of its own."""
        number = len(self._allowances)
        return f"{self._worker_id}-{number}" if number else self._worker_id

    def report_if_due(self) -> None:
        for allowance in self._allowances.values():
            if allowance.is_report_due:
                allowance.report().add_done_callback(lambda _: self._on_report())

    async def _report_periodically(self) -> None:
        while True:
            self.report_if_due()
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
