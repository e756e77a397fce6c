"""What a crash or a poison message leaves behind, found once a minute.

Dead letters stay in their queue, where the alarm sees them and a person can send them again; their probes are recorded
as errored, so that no run waits for them. Recording is idempotent, so a letter may be seen every minute.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from pydantic import ValidationError

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.claims import Claim, divide
from cupel_core.domain.runs.run import ACTIVE, Priority, Run
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.errors import NotFound
from cupel_core.ids import new_id
from cupel_core.messages import ProbeSlice
from cupel_core.providers import PROVIDERS
from cupel_core.record_outcomes import record
from cupel_core.settings import settings
from cupel_core.store import barrier, outbox, outcomes, queues, runs, snapshots
from cupel_core.store.queues import Delivery
from cupel_core.sweeping.recovery import Recovery, recover

FORGOTTEN_AFTER = timedelta(minutes=2)
"""A dispatch that nobody touched for so long has lost its message or its consumer."""
_MOST_LETTERS = 100
_CLAIMED_SECONDS = 60.0
"""Longer than a sweep lives."""


@dataclass(frozen=True)
class Swept:
    """What one round has done."""

    dispatched: int
    errored: int
    unreadable: int
    recovered: Counter[Recovery]


def sweep(now: datetime, seconds_left: Callable[[], float]) -> Swept:
    dispatched = _send_forgotten_dispatches(now)
    errored = unreadable = 0
    for provider, priority in product(PROVIDERS, Priority):
        for letter in queues.peek(settings().probe_dlq_url(provider, priority), _MOST_LETTERS):
            recorded = _bury(letter, now)
            errored += recorded or 0
            unreadable += recorded is None
    return Swept(dispatched, errored, unreadable, recover(now, seconds_left))


def _send_forgotten_dispatches(now: datetime) -> int:
    orders = list(outbox.untouched_since(now - FORGOTTEN_AFTER))
    queues.send(settings().dispatch_queue_url, orders)
    return len(orders)


def _bury(letter: Delivery, now: datetime) -> int | None:
    """Records the probes of a dead slice as errored; how many, or None for a letter that names none."""
    try:
        piece = ProbeSlice.model_validate_json(letter.body)
        run = runs.get(piece.run)
    except (ValidationError, NotFound):
        return None
    item = barrier.leaf(piece.run, Node(0, piece.leaf))
    indexes = [index for index in item.leaf.missing(piece.indexes) if _is_of(run, piece, index)]
    if run.epoch != piece.epoch or run.status not in ACTIVE or not indexes:
        return 0
    return _record_dead(run, piece, indexes, now)


def _record_dead(run: Run, piece: ProbeSlice, indexes: list[int], now: datetime) -> int:
    """Under a claim, as a worker does: another message of the same probes may be in a worker's hands."""
    claimant, until = new_id("sweep"), now.timestamp() + _CLAIMED_SECONDS
    wanted = Claim(frozenset(index % FANOUT for index in indexes), until)
    item = barrier.claim(piece.run, Node(0, piece.leaf), claimant, wanted)
    division = divide(item.leaf, item.others(claimant), indexes, now.timestamp())
    known = outcomes.recorded(run, division.doubtful) if division.doubtful else {}
    dead = [index for index in (*division.fresh, *division.doubtful) if index not in known]
    cause = item.last_error or "its worker died each time"
    record(run, piece.epoch, [_dead(run, index, cause, now) for index in dead], known, {piece.leaf: [claimant]})
    return len(dead)


def _is_of(run: Run, piece: ProbeSlice, index: int) -> bool:
    return 0 <= index < run.plan.total and index // FANOUT == piece.leaf


def _dead(run: Run, index: int, cause: str, now: datetime) -> ProbeError:
    probe = run.plan.probe(index)
    played = snapshots.played(run.snapshot_key, probe.case)
    return ProbeError(
        probe_index=index,
        scenario_id=played.scenario_id,
        model_id=run.plan.targets[probe.target],
        code=ErrorCode.DEAD_LETTER,
        message=f"the message of this probe was given up: {cause}",
        attempts=0,
        created_at=now,
        persona_id=played.persona_id,
        generation=run.generation,
    )
