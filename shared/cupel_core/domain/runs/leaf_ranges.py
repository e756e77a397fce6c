"""How the leaves of a run are cut into slices that a Map of Step Functions works on."""

from dataclasses import dataclass

from cupel_core.domain.runs.barrier import FANOUT

LEAVES_PER_SLICE = 10
MOST_SLICES = 1_000
"""An inline Map hands all of them over in one input of at most 256 KB."""


@dataclass(frozen=True)
class LeafRange:
    """One slice."""

    first_leaf: int
    leaves: int

    def indexes(self, total: int) -> range:
        """The probes it covers, of a run with so many."""
        first = self.first_leaf * FANOUT
        return range(first, min(first + self.leaves * FANOUT, total))


def leaf_ranges(total: int) -> tuple[LeafRange, ...]:
    """Of a run with so many probes."""
    leaves = -(-total // FANOUT)
    size = max(LEAVES_PER_SLICE, -(-leaves // MOST_SLICES))
    return tuple(LeafRange(first, min(size, leaves - first)) for first in range(0, leaves, size))
