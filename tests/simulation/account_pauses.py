"""Pauses of the account that all models of a schedule share: soon after one, no call starts, whatever it is for."""

import orjson

from tests.simulation.expressions import Item
from tests.simulation.scheduler import Scheduler, Violation
from tests.simulation.table import Key

STOP_SECONDS = 5.0
"""After a run or an account was paused: for so long may a worker rely on what it has read."""


class AccountPauses:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._paused_at: float | None = None

    def observe(self, key: Key, after: Item) -> None:
        """A write, of the account or of anything else."""
        if not after or not key[0].endswith("#governor") or key[1] != "sim":
            return
        if orjson.loads(after["body"]["S"])["paused_at"] is None:
            self._paused_at = None
        elif self._paused_at is None:
            self._paused_at = self._scheduler.now

    def check_call(self) -> None:
        """Ends the schedule itself, because the code under test might catch what is raised here."""
        since = self._scheduler.now - (self._paused_at or self._scheduler.now)
        if since > STOP_SECONDS:
            violation = Violation(f"5: a model call {since:.1f} s after the account was paused")
            self._scheduler.fail(violation)
            raise violation
