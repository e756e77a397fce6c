"""Records progress as sets instead of counters, in a tree of nodes over the probe indexes of a run.

A leaf covers up to 100 indexes and has the sets of completed and failed ones. An inner node has the set of its full
children; each member encodes the child's position and how many of its probes failed. Adding to a set is idempotent and
the write returns the new set, so duplicate reports never change when a node becomes full. A full node is added to its
parent; a full root ends the run.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cupel_core.base.deferred import dataclass

FANOUT = 100
MAX_BATCH_SIZE = 10_000
"""One request reads the probes of a hundred leaves."""


class Node(NamedTuple):
    """Leaves are at level 0; the children of node `n` are the nodes `100 n … 100 n + 99` of the level below."""

    level: int
    number: int

    @property
    def parent(self) -> "Node":
        return Node(self.level + 1, self.number // FANOUT)

    @property
    def span(self) -> int:
        return int(FANOUT ** (self.level + 1))

    @property
    def first_index(self) -> int:
        return self.number * self.span


def leaf_of(index: int) -> Node:
    return Node(0, index // FANOUT)


def leaf_batches(indexes: Iterable[int], size: int) -> Iterator[list[int]]:
    """Yield batches of probes that are read together: those of the same leaf, and about `size` in the first batch. Each
    further batch is twice as large, so that few requests are needed even if matches are rare."""
    by_leaf = (list(group) for _, group in groupby(indexes, key=leaf_of))
    for first in by_leaf:
        batch = first
        while len(batch) < size and (more := next(by_leaf, None)) is not None:
            batch += more
        yield batch
        size = min(2 * max(size, len(batch)), MAX_BATCH_SIZE)


def root_of(total: int) -> Node:
    """Return the lowest node that covers all indexes of a run of `total` probes."""
    root = Node(0, 0)
    while root.span < total:
        root = root.parent
    return root


def probe_count(node: Node, total: int) -> int:
    return max(0, min(node.span, total - node.first_index))


def child_count(node: Node, total: int) -> int:
    """Return the number of children of an inner node, or of probes of a leaf."""
    covered = probe_count(node, total)
    child_span = node.span // FANOUT
    return -(-covered // child_span)


@dataclass(frozen=True)
class Leaf:
    """Contains offsets 0 … 99 within the leaf; an offset is in at most one of the two sets."""

    completed: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()

    @property
    def recorded(self) -> frozenset[int]:
        return self.completed | self.failed

    def missing(self, indexes: Iterable[int]) -> list[int]:
        """Return the run's `indexes` that have no outcome yet, in order."""
        return [index for index in indexes if index % FANOUT not in self.recorded]

    def is_full(self, node: Node, total: int) -> bool:
        return len(self.recorded) == child_count(node, total)


@dataclass(frozen=True)
class InnerNode:
    members: frozenset[int] = frozenset()

    @property
    def full_children(self) -> frozenset[int]:
        return frozenset(member % FANOUT for member in self.members)

    @property
    def failed_by_child(self) -> dict[int, int]:
        return {member % FANOUT: member // FANOUT for member in self.members}

    @property
    def failed(self) -> int:
        return sum(member // FANOUT for member in self.members)

    def is_full(self, node: Node, total: int) -> bool:
        return len(self.full_children) == child_count(node, total)


def encode_member(node: Node, failed: int) -> int:
    """Return a full node's member in its parent's set: position and number of failures in one integer."""
    return failed * FANOUT + node.number % FANOUT
