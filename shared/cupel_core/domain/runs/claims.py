"""Manages workers' claims on the probes of a leaf, so that a duplicate delivery does not call a model twice.

A worker writes its claim into the leaf and reads all claims back from the same write. DynamoDB orders the writes to an
item, so of two overlapping claims the later writer sees the earlier one and yields. A claim is short and its worker
renews it, so the probes of a dead worker are soon free. Correctness never depends on claims: an outcome is recorded
once, whichever worker reports it.

A claim also says which of its conversations have made their first call, and when. Only these are RUNNING for readers;
the others are QUEUED.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.barrier import FANOUT, Leaf
from cupel_core.domain.runs.slow_calls import SlowCall


@dataclass(frozen=True)
class Claim:
    """Claims offsets of one leaf until a Unix time, which is zero if the claim was revoked."""

    offsets: frozenset[int]
    until: float
    since: float
    calling: Mapping[int, float] = field(default_factory=dict)
    """The Unix times of the first calls of conversations in progress, by offset, as the worker last reported them.
    Other claimed probes wait for a slot, for the pace of their run or for a budget."""
    slow_calls: tuple[SlowCall, ...] = ()
    """Calls that were in flight when the claim was last renewed; only those of interest to readers of the progress."""


@dataclass(frozen=True)
class SliceDivision:
    """Divides the indexes of a slice without an outcome by the claims of other workers."""

    unclaimed: tuple[int, ...] = ()
    expired: tuple[int, ...] = ()
    """The claim expired; outcomes may be stored without being in the barrier, so the worker checks before it runs
    them."""
    claimed: tuple[int, ...] = ()
    rounds: Mapping[int, int] = field(default_factory=dict)
    """For a probe that a retry took out of the leaf, this is the last such retry round, by index."""

    @property
    def missing(self) -> list[int]:
        return sorted((*self.unclaimed, *self.expired, *self.claimed))

    def only(self, kept: Container[int]) -> "SliceDivision":
        parts = (self.unclaimed, self.expired, self.claimed)
        unclaimed, expired, claimed = (tuple(index for index in part if index in kept) for part in parts)
        return replace(self, unclaimed=unclaimed, expired=expired, claimed=claimed)

    def round_of(self, index: int, conversation_round: int) -> int:
        """Return the retry round in which a probe's conversation started, given that of the run's other probes."""
        return max(conversation_round, self.rounds.get(index, conversation_round))


def divide_slice(leaf: Leaf, others: Iterable[Claim], indexes: Iterable[int], now: float) -> SliceDivision:
    active: set[int] = set()
    expired: set[int] = set()
    for claim in others:
        (active if claim.until > now else expired).update(claim.offsets)
    missing = leaf.missing(indexes)
    return SliceDivision(
        unclaimed=tuple(index for index in missing if index % FANOUT not in active | expired),
        expired=tuple(index for index in missing if index % FANOUT in expired - active),
        claimed=tuple(index for index in missing if index % FANOUT in active),
    )
