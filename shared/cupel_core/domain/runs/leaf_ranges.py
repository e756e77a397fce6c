"""Divides a run's leaves into ranges, one per iteration of a Step Functions Map."""

from collections.abc import Iterator
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.barrier import FANOUT

LEAVES_PER_RANGE = 10
MAX_RANGES = 1_000
"""An inline Map takes all of its items in one input of at most 256 KB."""

MAX_HISTORY_EVENTS = 25_000
"""Step Functions ends an execution whose history has more events."""
RESERVED_EVENTS = 5_000
"""Events of the other states, and of tasks that fail and are retried (three each)."""
EVENTS_PER_RANGE = 11
"""A Map iteration whose task runs once has these events: the iteration 2, the task 5, the choice 2, the end 2."""
EVENTS_PER_ROUND = 9
"""The events are those of the task and the choice, and of a wait that may follow."""


@dataclass(frozen=True)
class LeafRange:
    first_leaf: int
    leaves: int

    def indexes(self, total: int) -> range:
        first = self.first_leaf * FANOUT
        return range(first, min(first + self.leaves * FANOUT, total))

    def by_leaf(self) -> "Iterator[LeafRange]":
        """Yield the leaves one by one, because the contents of all transcripts of a range do not fit into memory."""
        return (LeafRange(leaf, 1) for leaf in range(self.first_leaf, self.first_leaf + self.leaves))


def max_rounds(range_count: int) -> int:
    """Return how often an execution may repeat the task of each range without exceeding the limit of events. A range
    whose task is repeated more often is left to the next execution."""
    spare = MAX_HISTORY_EVENTS - RESERVED_EVENTS - range_count * EVENTS_PER_RANGE
    return 1 + max(1, spare // (EVENTS_PER_ROUND * max(1, range_count)))


def leaf_ranges(total: int, leaves_per_range: int = LEAVES_PER_RANGE) -> tuple[LeafRange, ...]:
    leaves = -(-total // FANOUT)
    size = max(leaves_per_range, -(-leaves // MAX_RANGES))
    return tuple(LeafRange(first, min(size, leaves - first)) for first in range(0, leaves, size))


class SliceProgress(NamedTuple):
    """Reports what a task did of its slice: newly done transcripts, and at least how many are left. Nothing is left
    once the task has nothing to do."""

    done: int = 0
    left: int = 0
    wait_seconds: float = 0.0
    """The remaining transcripts are tried again after this time, because providers request it."""

    def plus(self, other: "SliceProgress") -> "SliceProgress":
        wait_seconds = max(self.wait_seconds, other.wait_seconds)
        return SliceProgress(self.done + other.done, self.left + other.left, wait_seconds)
