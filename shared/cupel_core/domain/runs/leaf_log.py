"""Reads a leaf's log, which says in which page the outcome of each probe is, and which outcomes count.

A commit writes its outcomes of a leaf into a page of their own, and then adds the page to the leaf's log. The order of
the log decides: the first outcome of a probe counts. Only an error is replaced, after a retry has taken it out of the
leaf, by an outcome that counts and has a later fencing token. An error of a worker that has missed such a retry does
not count. Adding a page again, or the same outcomes in another page, changes nothing, so that a commit may be repeated.

The cost of an outcome that does not count is `lost`. Each retry round in which all probes are run again adds 1 to 5 KB
to a log, so that a leaf reaches the 400 KB of an item after 80 to 400 such rounds and cannot record another one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.barrier import FANOUT, Leaf
from cupel_core.domain.runs.run_spend import Cost, encode


class LoggedOutcome(NamedTuple):
    is_completed: bool
    cost: Cost = Cost()
    identity: int = 0
    """Two bytes of a hash, which are equal for an outcome that is stored again after the reply to its write was
    lost."""


@dataclass(frozen=True)
class OutcomePage:
    id: str
    fencing_token: int
    outcomes: Mapping[int, LoggedOutcome]

    def counted_in(self, retry_round: int) -> frozenset[int]:
        """Return the offsets whose outcomes count in a retry round; errors of earlier rounds do not."""
        is_current = self.fencing_token >= retry_round
        return frozenset(offset for offset, each in self.outcomes.items() if each.is_completed or is_current)


@dataclass(frozen=True)
class Reopening:
    """Records that a retry has taken out errors, by offset. Errors that workers of earlier rounds add later do not
    count."""

    retry_round: int
    taken_out: frozenset[int] = frozenset()


type LogEntry = OutcomePage | Reopening


class OutcomePlace(NamedTuple):
    page_id: str
    fencing_token: int
    is_completed: bool
    is_taken_out: bool = False
    """An error whose probe is run again."""


@dataclass(frozen=True)
class LogContent:
    places: Mapping[int, OutcomePlace] = field(default_factory=dict)
    """The places are keyed by offset and include errors that were taken out."""
    page_ids: frozenset[str] = frozenset()
    counted_costs: Mapping[tuple[int, int], Cost] = field(default_factory=dict)
    """The costs of outcomes that counted at some time, by offset and fencing token."""
    lost: Cost = field(default_factory=Cost)
    """The other outcomes have cost this: another worker had recorded the probe, or they missed a retry."""
    rounds: Mapping[int, int] = field(default_factory=dict)
    """The retry round that last took the probe out, by offset."""

    @property
    def costs(self) -> frozenset[int]:
        return frozenset(encode(token * FANOUT + offset, cost) for (offset, token), cost in self.counted_costs.items())

    def leaf(self) -> Leaf:
        counted = {offset: place for offset, place in self.places.items() if not place.is_taken_out}
        completed = frozenset(offset for offset, place in counted.items() if place.is_completed)
        return Leaf(completed, frozenset(counted.keys() - completed))


def resolve(log: Iterable[LogEntry]) -> LogContent:
    reader = _LogReader()
    for entry in log:
        if isinstance(entry, Reopening):
            reader.reopen(entry)
        else:
            reader.add(entry)
    return LogContent(reader.places, frozenset(reader.page_ids), reader.costs, reader.lost, reader.rounds)


class _LogReader:
    def __init__(self) -> None:
        self._retry_round = 0
        self.places: dict[int, OutcomePlace] = {}
        self.page_ids: set[str] = set()
        self.costs: dict[tuple[int, int], Cost] = {}
        """The costs are keyed by offset and fencing token."""
        self._lost: dict[tuple[int, int, int], Cost] = {}
        """The costs are keyed by offset, fencing token and identity."""
        self._placed: set[tuple[int, int, int]] = set()
        """Outcomes that counted at some time, by offset, fencing token and identity."""
        self.rounds: dict[int, int] = {}

    @property
    def lost(self) -> Cost:
        return sum(self._lost.values(), Cost())

    def reopen(self, entry: Reopening) -> None:
        self._retry_round = entry.retry_round
        for offset in entry.taken_out:
            self.rounds[offset] = entry.retry_round
            place = self.places.get(offset)
            if place is not None and not place.is_completed:
                self.places[offset] = place._replace(is_taken_out=True)

    def add(self, page: OutcomePage) -> None:
        if page.id in self.page_ids:
            return
        self.page_ids.add(page.id)
        counted = page.counted_in(self._retry_round)
        for offset, outcome in page.outcomes.items():
            key = (offset, page.fencing_token, outcome.identity)
            if key in self._placed:
                continue
            if offset not in counted or not self._is_placed(page, offset):
                self._lost[key] = outcome.cost
                continue
            self._placed.add(key)
            self._lost.pop(key, None)
            self.places[offset] = OutcomePlace(page.id, page.fencing_token, outcome.is_completed)
            self.costs[offset, page.fencing_token] = outcome.cost

    def _is_placed(self, page: OutcomePage, offset: int) -> bool:
        """Return whether the outcome is the first one of its probe, or replaces an error of an earlier worker."""
        before = self.places.get(offset)
        return before is None or (before.is_taken_out and before.fencing_token < page.fencing_token)
