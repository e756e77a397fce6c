"""The figures of a run that a list of runs shows: how many probes passed, and the pass rates of its columns."""

from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.statistics import Interval

MAX_COLUMNS = 20
"""A list shows the rates of at most this many columns of a run."""


class ColumnRate(NamedTuple):
    """Contains the pass rate of one column, as the results of the run have it."""

    passed: int
    judged: int
    share: float | None = None
    """None if no probe was judged."""
    interval: Interval | None = None


@dataclass(frozen=True)
class RunRates:
    """Counts the probes of all columns by what came of them, with the rates of the first columns."""

    passed: int
    failed: int
    unscored: int
    errored: int
    columns: tuple[ColumnRate, ...]
    """The rates are in the order of the plan's columns, of at most MAX_COLUMNS of them."""

    @property
    def completed(self) -> int:
        return self.passed + self.failed + self.unscored
