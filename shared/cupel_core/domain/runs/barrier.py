"""Counting as a set, not a number: a tree of nodes over the probe indexes of a run.

A leaf covers up to 100 indexes and holds the sets of those completed and failed; an inner node holds the set of its
full children, each member telling the child's position and how many of its probes failed. Adding to a set is
idempotent and the write returns the new set, so a node is full in exactly one way, however often it is told. A full
node is added to its parent; a full root is the end of the run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

FANOUT = 100


class Node(NamedTuple):
    """Level 0 are the leaves; a node's children are numbers `100 n … 100 n + 99` of the level below."""

    level: int
    number: int

    @property
    def parent(self) -> "Node":
        return Node(self.level + 1, self.number // FANOUT)

    @property
    def span(self) -> int:
        """How many probe indexes a node of this level covers at most."""
        return int(FANOUT ** (self.level + 1))

    @property
    def first_index(self) -> int:
        return self.number * self.span


def leaf_of(index: int) -> Node:
    return Node(0, index // FANOUT)


def root_of(total: int) -> Node:
    """The lowest node that covers all indexes of a run of `total` probes."""
    root = Node(0, 0)
    while root.span < total:
        root = root.parent
    return root


def probes_under(node: Node, total: int) -> int:
    """How many probes of the run a node covers."""
    return max(0, min(node.span, total - node.first_index))


def children_of(node: Node, total: int) -> int:
    """How many children an inner node has, or how many probes a leaf has."""
    covered = probes_under(node, total)
    child_span = node.span // FANOUT
    return -(-covered // child_span)


@dataclass(frozen=True)
class Leaf:
    """Offsets 0 … 99 within the leaf. An offset is in at most one of the two sets: the transcript decides which."""

    completed: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()

    @property
    def recorded(self) -> frozenset[int]:
        return self.completed | self.failed

    def missing(self, indexes: Iterable[int]) -> list[int]:
        """Those of `indexes` (of the run) without an outcome, in order."""
        return [index for index in indexes if index % FANOUT not in self.recorded]

    def is_full(self, node: Node, total: int) -> bool:
        return len(self.recorded) == children_of(node, total)


@dataclass(frozen=True)
class Inner:
    """The set of full children, as written by `member`."""

    members: frozenset[int] = frozenset()

    @property
    def full_children(self) -> frozenset[int]:
        return frozenset(member % FANOUT for member in self.members)

    @property
    def failed(self) -> int:
        return sum(member // FANOUT for member in self.members)

    def is_full(self, node: Node, total: int) -> bool:
        return len(self.full_children) == children_of(node, total)


def member(node: Node, failed: int) -> int:
    """How a full node stands in its parent's set: position and failures in one number."""
    return failed * FANOUT + node.number % FANOUT
