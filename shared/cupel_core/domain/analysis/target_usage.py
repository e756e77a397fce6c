"""Sums what the target's calls of a cell's completed probes cost and took, in three whole numbers per cell.

The sums are in trillionths, so they do not depend on the order or the division of outcomes. A sum is UNKNOWN if the
amount of any of its probes is, because the mean over the others would be a guess.
"""

from collections.abc import Iterable
from math import log
from typing import NamedTuple

from cupel_core.domain.analysis.counted_outcomes import CountedOutcome

UNKNOWN = -1
CACHED = -2
"""The value in place of UNKNOWN if an answer came from a cache."""
_PICO = 10**12
_MAX_SUM = 2**62
"""The sum of two larger sums might not fit into the 64 bits that a count file has for each."""


def add_sums(first: int, second: int) -> int:
    """Add two sums of a cell; UNKNOWN or CACHED if either is, and UNKNOWN if the sum is too large to be stored."""
    if first < 0 or second < 0:
        return min(first, second)
    return total if (total := first + second) <= _MAX_SUM else UNKNOWN


def pico_usd(outcome: CountedOutcome) -> int:
    """Return what the target's calls cost, including unusable answers and the original cost of answers from a cache. It
    is UNKNOWN without any call, if a price is unknown, or if calls without an answer may have been billed."""
    total = calls = 0
    for cost in outcome.costs:
        if cost.kind == "target":
            if cost.usd is None or cost.cached_usd is None or cost.uncertain_usd:
                return UNKNOWN
            total += round((cost.usd + cost.cached_usd) * _PICO)
            calls += cost.calls
    return total if calls else UNKNOWN


def pico_log_pico_usd(pico: int) -> int:
    """Return the natural logarithm of a cost in trillionths of a dollar, so that none is negative. It is UNKNOWN if the
    cost is unknown or 0."""
    return round(log(pico) * _PICO) if pico > 0 else UNKNOWN


def pico_log_ms(outcome: CountedOutcome) -> int:
    """Return the natural logarithm of the duration in milliseconds. It is CACHED with an answer from a cache, and
    UNKNOWN if the duration was not measured or is below a millisecond."""
    if outcome.is_cached:
        return CACHED
    duration = outcome.duration_ms
    return round(log(duration) * _PICO) if duration > 0 else UNKNOWN


class TargetUsage(NamedTuple):
    completed: int = 0
    pico_usd: int = 0
    pico_log_pico_usd: int = 0
    """The sum; UNKNOWN if any conversation cost nothing."""
    pico_log_ms: int = 0

    @classmethod
    def of_outcome(cls, outcome: CountedOutcome) -> "TargetUsage":
        pico = pico_usd(outcome)
        return cls(1, pico, pico_log_pico_usd(pico), pico_log_ms(outcome))

    @classmethod
    def of(cls, outcomes: Iterable[CountedOutcome]) -> "TargetUsage":
        total = cls()
        for each in outcomes:
            if each.is_completed:
                total = total.plus(cls.of_outcome(each))
        return total

    def plus(self, other: "TargetUsage") -> "TargetUsage":
        return TargetUsage(self.completed + other.completed, *map(add_sums, self[1:], other[1:]))

    @property
    def mean_usd(self) -> float | None:
        """Return None without a completed probe, or if the cost of one is unknown."""
        return self._mean(self.pico_usd)

    @property
    def mean_log_usd(self) -> float | None:
        """Return None without a completed probe, or if the cost of one is unknown or 0."""
        mean = self._mean(self.pico_log_pico_usd)
        return None if mean is None else mean - log(_PICO)

    @property
    def mean_log_ms(self) -> float | None:
        """Return None without a completed probe, or if the duration of one is unknown."""
        return self._mean(self.pico_log_ms)

    def _mean(self, total: int) -> float | None:
        return total / _PICO / self.completed if self.completed and total >= 0 else None
