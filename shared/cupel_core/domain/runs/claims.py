"""Who is working on which probes of a leaf, so that a duplicate delivery does not pay a model twice.

A worker writes its claim into the leaf and reads all claims back from the same write. DynamoDB orders the writes to an
item, so of two overlapping claims the later writer sees the earlier one and yields. Correctness never depends on it:
an outcome is recorded once whoever brings it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from cupel_core.domain.runs.barrier import FANOUT, Leaf


@dataclass(frozen=True)
class Claim:
    """Offsets of one leaf, until a time (seconds since 1970) at which the claimant's invocation cannot be alive."""

    offsets: frozenset[int]
    until: float


@dataclass(frozen=True)
class Division:
    """What is to be done with the indexes of a slice that have no outcome in the leaf yet."""

    fresh: tuple[int, ...] = ()
    """Nobody has begun these."""
    doubtful: tuple[int, ...] = ()
    """A claimant that is gone may have recorded these without having reached the barrier: look before running them."""
    taken: tuple[int, ...] = ()
    """Somebody is working on these now."""


def divide(leaf: Leaf, others: Iterable[Claim], indexes: Iterable[int], now: float) -> Division:
    """Divides a slice by what the other claims in its leaf say."""
    active: set[int] = set()
    expired: set[int] = set()
    for claim in others:
        (active if claim.until > now else expired).update(claim.offsets)
    missing = leaf.missing(indexes)
    return Division(
        fresh=tuple(index for index in missing if index % FANOUT not in active | expired),
        doubtful=tuple(index for index in missing if index % FANOUT in expired - active),
        taken=tuple(index for index in missing if index % FANOUT in active),
    )
