"""Records what a run has spent as sets of numbers that only grow, in the barrier's nodes beside their sets of outcomes.

A member is a cost at a place. The largest of several members of one place counts: the cost of a stored outcome only
grows, as summaries and selections are added to it. Adding a member again, or an older one, therefore changes nothing.
The place of an outcome is its offset in the leaf with the fencing token under which it was stored, so the error of an
earlier retry round keeps its own place; in an inner node, it is the position of a child with the number of a column. A
conversation without an outcome has the place of its offset with the retry round in which it started, and counts until
it has an outcome.

What is lost is an upper bound: the turns before a common checkpoint are in both outcomes. Rescores record their costs
with their results, so they are not included.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.spending import Spending

_PLACES = 10**8
_NANO = 10**9


@dataclass(frozen=True)
class Cost:
    """A sum in billionths of a USD, because integers add up to the same sum in any order."""

    nano_usd: int = 0
    """Calls whose price is unknown are not included."""
    is_complete: bool = True

    @classmethod
    def of(cls, spending: Spending) -> "Cost":
        return cls(round(spending.priced_usd * _NANO), spending.total.cost_usd is not None)

    @property
    def priced_usd(self) -> float:
        return self.nano_usd / _NANO

    @property
    def known_usd(self) -> float | None:
        """Return None if the price of a call is unknown, and 0.0 if nothing was spent."""
        return self.priced_usd if self.is_complete else None

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.nano_usd + other.nano_usd, self.is_complete and other.is_complete)


UNKNOWN = Cost(is_complete=False)


@dataclass(frozen=True)
class RunSpend:
    recorded: Cost = field(default_factory=Cost)
    """Covers transcripts and errors, also of earlier retry rounds, with grading and summaries, and conversations
    that a pause or a cancellation interrupted."""
    lost: Cost = field(default_factory=Cost)
    """Covers outcomes that do not count: another worker had recorded the probe, or they missed a retry."""
    by_column: Mapping[int, Cost] = field(default_factory=dict)

    def __add__(self, other: "RunSpend") -> "RunSpend":
        by_column = _sums(chain(self.by_column.items(), other.by_column.items()))
        return RunSpend(self.recorded + other.recorded, self.lost + other.lost, by_column)

    def of_column(self, column: int) -> Cost:
        return self.by_column.get(column, Cost())

    def as_child(self, position: int) -> Iterator[int]:
        """Yield the members of `recorded` in a parent."""
        return (encode(column * FANOUT + position, cost) for column, cost in self.by_column.items())


def encode(place: int, cost: Cost) -> int:
    return (cost.nano_usd * 2 + (not cost.is_complete)) * _PLACES + place


def checkpoint_member(index: int, conversation_round: int, cost: Cost) -> int:
    """Return a member for the cost, up to a checkpoint, of a conversation that started in this retry round."""
    return encode(conversation_round * FANOUT + index % FANOUT, cost)


def cost_by_place(members: Iterable[int]) -> dict[int, Cost]:
    amounts: dict[int, int] = {}
    for member in members:
        amount, place = divmod(member, _PLACES)
        amounts[place] = max(amounts.get(place, 0), amount)
    return {place: Cost(amount // 2, amount % 2 == 0) for place, amount in amounts.items()}


def total(members: Iterable[int]) -> Cost:
    return sum(cost_by_place(members).values(), Cost())


def leaf_spend(
    members: Iterable[int],
    lost: Cost,
    checkpoint_members: Iterable[int],
    column_of: Callable[[int], int],
) -> RunSpend:
    costs = cost_by_place(members)
    places = chain(costs.items(), _unfinished(cost_by_place(checkpoint_members), costs))
    by_column = _sums((column_of(place % FANOUT), cost) for place, cost in places)
    return RunSpend(sum(by_column.values(), Cost()), lost, by_column)


def _unfinished(checkpoints: Mapping[int, Cost], costs: Iterable[int]) -> Iterator[tuple[int, Cost]]:
    """Yield the conversations without an outcome, because an outcome includes the cost of its checkpoints."""
    last_tokens: dict[int, int] = {}
    for place in costs:
        token, offset = divmod(place, FANOUT)
        last_tokens[offset] = max(token, last_tokens.get(offset, 0))
    return (each for each in checkpoints.items() if last_tokens.get(each[0] % FANOUT, 0) < each[0] // FANOUT)


def inner_spend(members: Iterable[int], lost_members: Iterable[int]) -> RunSpend:
    by_column = _sums((place // FANOUT, cost) for place, cost in cost_by_place(members).items())
    return RunSpend(sum(by_column.values(), Cost()), total(lost_members), by_column)


def _sums(costs: Iterable[tuple[int, Cost]]) -> dict[int, Cost]:
    sums = defaultdict[int, Cost](Cost)
    for key, cost in costs:
        sums[key] += cost
    return dict(sums)
