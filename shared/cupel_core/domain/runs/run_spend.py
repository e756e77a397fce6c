"""What a run has spent, as sets of numbers that only grow, in the barrier's nodes beside their sets of outcomes.

A member is a cost at a place. Of several members of one place the largest counts: the cost of a stored outcome only
grows, as summaries and selections are added to it. Adding a member again, or an older one, therefore changes nothing.
The place of an outcome is its offset in the leaf with the fencing token under which it was stored, so the error of an
earlier retry round keeps its own place; in an inner node, it is the position of the child. A conversation without an
outcome has the place of its offset with the retry round in which it started, and counts until it has an outcome.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.spending import Spending

_PLACES = 10**8
_NANO = 10**9
_MAX_DIGEST = 10**6


@dataclass(frozen=True)
class Cost:
    """A sum in billionths of a USD: integers add up to the same sum in any order."""

    nano_usd: int = 0
    """Of the calls whose price is known."""
    is_complete: bool = True
    """Whether the price of every call is known."""

    @classmethod
    def of(cls, spending: Spending) -> "Cost":
        return cls(round(spending.priced_usd * _NANO), spending.total.cost_usd is not None)

    @property
    def priced_usd(self) -> float:
        return self.nano_usd / _NANO

    def __bool__(self) -> bool:
        """Whether anything was spent, or may have been."""
        return self.nano_usd > 0 or not self.is_complete

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.nano_usd + other.nano_usd, self.is_complete and other.is_complete)


UNKNOWN = Cost(is_complete=False)


@dataclass(frozen=True)
class RunSpend:
    """The spend of a run, or of some of its probes."""

    recorded: Cost = field(default_factory=Cost)
    """Of its transcripts and errors, also those of earlier retry rounds, with their grading and summaries; and of
    conversations that a pause or a cancellation has interrupted."""
    lost: Cost = field(default_factory=Cost)
    """Of outcomes that were not recorded because another worker had recorded one for the same probe."""

    def __add__(self, other: "RunSpend") -> "RunSpend":
        return RunSpend(self.recorded + other.recorded, self.lost + other.lost)


class Recorded(NamedTuple):
    """A stored outcome as the barrier counts it."""

    probe_index: int
    completed: bool
    fencing_token: int
    """Of the worker that stored it."""
    cost: Cost = Cost()
    lost_member: int | None = None
    """The cost of an outcome that was to be stored and lost to this one."""

    def counts_in(self, retry_round: int) -> bool:
        """An error of an earlier retry round does not count, as its probe is run again."""
        return self.completed or self.fencing_token >= retry_round

    @property
    def cost_member(self) -> int:
        return encode(self.fencing_token * FANOUT + self.probe_index % FANOUT, self.cost)


def encode(place: int, cost: Cost) -> int:
    return (cost.nano_usd * 2 + (not cost.is_complete)) * _PLACES + place


def lost_member(index: int, cost: Cost, identity: str) -> int:
    """The member of a lost outcome: the same each time that the same outcome is lost, for another one another."""
    return encode(crc32(identity.encode()) % _MAX_DIGEST * FANOUT + index % FANOUT, cost)


def checkpoint_member(index: int, conversation_round: int, cost: Cost) -> int:
    """What a conversation that started in this retry round has cost up to a checkpoint."""
    return encode(conversation_round * FANOUT + index % FANOUT, cost)


def cost_by_place(members: Iterable[int]) -> dict[int, Cost]:
    amounts: dict[int, int] = {}
    for member in members:
        amount, place = divmod(member, _PLACES)
        amounts[place] = max(amounts.get(place, 0), amount)
    return {place: Cost(amount // 2, amount % 2 == 0) for place, amount in amounts.items()}


def total(members: Iterable[int]) -> Cost:
    return sum(cost_by_place(members).values(), Cost())


def unfinished_total(checkpoint_members: Iterable[int], members: Iterable[int]) -> Cost:
    """The cost of the conversations of which no outcome is among the `members`: an outcome includes its checkpoints."""
    last_tokens: dict[int, int] = {}
    for place in cost_by_place(members):
        token, offset = divmod(place, FANOUT)
        last_tokens[offset] = max(token, last_tokens.get(offset, 0))
    unfinished = cost_by_place(checkpoint_members).items()
    return sum((cost for place, cost in unfinished if last_tokens.get(place % FANOUT, 0) < place // FANOUT), Cost())


def total_of(members: Iterable[int], positions: frozenset[int]) -> Cost:
    """The total, which is incomplete if one of the recorded `positions` has no cost: an earlier release recorded it."""
    costs = cost_by_place(members)
    known = {place % FANOUT for place in costs}
    return sum(costs.values(), Cost() if positions <= known else UNKNOWN)
