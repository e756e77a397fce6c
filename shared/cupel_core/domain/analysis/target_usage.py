"""What the target's calls of a cell's completed probes cost and took, in two whole numbers per cell.

They are sums in trillionths, so they are the same whatever the order and the parts. A sum is UNKNOWN as soon as one of
its probes is, because the mean over the others would be a guess.
"""

from collections.abc import Iterable
from math import log
from typing import NamedTuple

from cupel_core.domain.analysis.column_totals import CountedOutcome

UNKNOWN = -1
_PICO = 10**12
_MAX_SUM = 2**62
"""Two larger sums would not fit into the 64 bits that a count file has for each."""


def add_sums(first: int, second: int) -> int:
    """Add two sums of a cell; UNKNOWN if either is, or if the sum would be too large to be stored."""
    total = first + second
    return total if first >= 0 and second >= 0 and total <= _MAX_SUM else UNKNOWN


def pico_usd(outcome: CountedOutcome) -> int:
    """Return what the target's calls cost, also those whose answers were unusable; UNKNOWN without any call, with an
    answer from a cache, or if a price is."""
    if outcome.is_cached:
        return UNKNOWN
    total = calls = 0
    for cost in outcome.costs:
        if cost.kind == "target":
            if cost.usd is None:
                return UNKNOWN
            total += round(cost.usd * _PICO)
            calls += cost.calls
    return total if calls else UNKNOWN


def pico_log_ms(outcome: CountedOutcome) -> int:
    """Return the natural logarithm of the duration in milliseconds; UNKNOWN of a duration that was not measured, or
    that is too short for a millisecond."""
    duration = outcome.duration_ms
    return round(log(duration) * _PICO) if duration > 0 else UNKNOWN


class TargetUsage(NamedTuple):
    """The sums of one column and one case, or of several cases added up."""

    completed: int = 0
    pico_usd: int = 0
    pico_log_ms: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[CountedOutcome]) -> "TargetUsage":
        total = cls()
        for each in outcomes:
            if each.is_completed:
                total = total.plus(cls(1, pico_usd(each), pico_log_ms(each)))
        return total

    def plus(self, other: "TargetUsage") -> "TargetUsage":
        return TargetUsage(
            self.completed + other.completed,
            add_sums(self.pico_usd, other.pico_usd),
            add_sums(self.pico_log_ms, other.pico_log_ms),
        )

    @property
    def mean_usd(self) -> float | None:
        """None without a completed probe, or if the cost of one is unknown."""
        return self._mean(self.pico_usd)

    @property
    def mean_log_ms(self) -> float | None:
        """None without a completed probe, or if the duration of one is unknown."""
        return self._mean(self.pico_log_ms)

    def _mean(self, total: int) -> float | None:
        return total / _PICO / self.completed if self.completed and total >= 0 else None
