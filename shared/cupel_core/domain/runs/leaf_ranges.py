"""Division of a run's leaves into ranges, one per iteration of a Step Functions Map."""

from dataclasses import dataclass

from cupel_core.domain.runs.barrier import FANOUT

LEAVES_PER_RANGE = 10
MAX_RANGES = 1_000
"""An inline Map takes all of its items in one input of at most 256 KB."""


@dataclass(frozen=True)
class LeafRange:
    """Consecutive leaves of a run, processed by one Map iteration."""

    first_leaf: int
    leaves: int

    def indexes(self, total: int) -> range:
        """The probe indexes it covers in a run of `total` probes."""
        first = self.first_leaf * FANOUT
        return range(first, min(first + self.leaves * FANOUT, total))


def leaf_ranges(total: int) -> tuple[LeafRange, ...]:
    """The ranges that cover a run of `total` probes, in order."""
    leaves = -(-total // FANOUT)
    size = max(LEAVES_PER_RANGE, -(-leaves // MAX_RANGES))
    return tuple(LeafRange(first, min(size, leaves - first)) for first in range(0, leaves, size))
