"""Dead letters: slices that a queue gave up, as their workspace sees them, and their way back.

The sweeper records the missing probes of a dead slice as errored, once a minute. Until then a letter can be sent again;
from then on its probes are retried with their run.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, product

from pydantic import ValidationError

from cupel_core.domain.runs.barrier import FANOUT, Leaf, Node
from cupel_core.domain.runs.run import ACTIVE, Priority, Run
from cupel_core.errors import NotFound
from cupel_core.messages import ProbeSlice
from cupel_core.queues.status import providers_named
from cupel_core.settings import Lane, settings
from cupel_core.store import barrier, queues, runs
from cupel_core.store.queues import Delivery

MOST_LETTERS = 200
"""Of one queue, so that a call ends within its time however much is dead; another call sees to the next ones."""
_UNKNOWN_CAUSE = "its worker died each time"


@dataclass(frozen=True)
class DeadLetter:
    lane: Lane
    delivery: Delivery
    piece: ProbeSlice
    cause: str = _UNKNOWN_CAUSE


@dataclass(frozen=True)
class Redriven:
    """What became of letters. All of them are gone from the dead letters."""

    sent: int = 0
    """Their probes had no outcome: they run again."""
    dropped: int = 0
    """Nothing was left to do for them."""
    to_retry: frozenset[str] = frozenset()
    """Runs whose probes of these letters stand as errored: a retry of the run is their way back."""

    def __add__(self, other: object) -> "Redriven":
        if not isinstance(other, Redriven):
            return NotImplemented
        return Redriven(self.sent + other.sent, self.dropped + other.dropped, self.to_retry | other.to_retry)


def dead(workspace: str, provider: str | None = None) -> tuple[DeadLetter, ...]:
    """The workspace's letters of one provider's queues, or of all. They stay where they are."""

    def look(lane: Lane) -> list[DeadLetter]:
        letters = _own(workspace, lane, queues.peek(settings().probe_dlq_url(*lane), MOST_LETTERS))
        return [DeadLetter(lane, each.delivery, each.piece, _cause(each.piece)) for each in letters]

    return tuple(chain.from_iterable(_each_lane(provider, look)))


def redrive(workspace: str, provider: str | None = None, message_ids: Collection[str] | None = None) -> Redriven:
    """Sends the workspace's letters again whose probes are still to run, and removes the others; None for all."""

    def empty(lane: Lane) -> Redriven:
        taken = queues.take(settings().probe_dlq_url(*lane), MOST_LETTERS)
        chosen = [
            letter
            for letter in _own(workspace, lane, taken)
            if message_ids is None or letter.delivery.id in message_ids
        ]
        results = [_send_again(letter) for letter in chosen]
        queues.delete([letter.delivery for letter in chosen])
        gone = {letter.delivery.id for letter in chosen}
        queues.give_back([delivery for delivery in taken if delivery.id not in gone])
        return sum(results, Redriven())

    return sum(_each_lane(provider, empty), Redriven())


def _each_lane[T](provider: str | None, do: Callable[[Lane], T]) -> list[T]:
    """In the order of the registry."""
    lanes = [Lane(*each) for each in product(providers_named(provider), Priority)]
    with ThreadPoolExecutor(max_workers=16) as threads:
        return list(threads.map(do, lanes))


def _own(workspace: str, lane: Lane, deliveries: Iterable[Delivery]) -> list[DeadLetter]:
    """A message that cannot be read belongs to nobody: the alarm and the sweeper's count tell the operator of it."""
    letters = []
    for delivery in deliveries:
        try:
            piece = ProbeSlice.model_validate_json(delivery.body)
        except ValidationError:
            continue
        if piece.workspace == workspace:
            letters.append(DeadLetter(lane, delivery, piece))
    return letters


def _cause(piece: ProbeSlice) -> str:
    return barrier.leaf(piece.run, Node(0, piece.leaf)).last_error or _UNKNOWN_CAUSE


def _send_again(letter: DeadLetter) -> Redriven:
    """Sent before the letter is deleted: after a crash between the two there are both, and the work is done once."""
    run = _run(letter.piece)
    if run is None:
        return Redriven(dropped=1)
    leaf = barrier.leaf(letter.piece.run, Node(0, letter.piece.leaf)).leaf
    errored = frozenset({run.id}) if _failed(leaf, letter.piece) else frozenset[str]()
    missing = leaf.missing(letter.piece.indexes)
    if not missing or run.epoch != letter.piece.epoch or run.status not in ACTIVE:
        return Redriven(dropped=1, to_retry=errored)
    rest = letter.piece.model_copy(update={"indexes": missing})
    queues.send(settings().probe_queue_url(*letter.lane), [rest], group=run.id)
    return Redriven(sent=1, to_retry=errored)


def _failed(leaf: Leaf, piece: ProbeSlice) -> bool:
    return any(index % FANOUT in leaf.failed for index in piece.indexes)


def _run(piece: ProbeSlice) -> Run | None:
    try:
        return runs.get(piece.run)
    except NotFound:
        return None
