"""From a message to work: read it, look at its run, claim its probes."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from itertools import count

from cupel_core.clock import utc_now
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.claims import Claim, divide
from cupel_core.domain.runs.run import Action, IllegalMove, Run, RunStatus
from cupel_core.errors import AppError, Conflict, Invalid
from cupel_core.messages import ProbeSlice
from cupel_core.probing.claimed_slice import Work
from cupel_core.probing.run_cache import Watch
from cupel_core.probing.slice_context import setting_of
from cupel_core.store import barrier, outcomes, runs
from cupel_core.store.queues import Delivery

LOOK_AGAIN_SECONDS = 10.0
"""After this time a probe that somebody else works on is looked at again."""


class Intake:
    """Claims slices for one worker until the time its invocation ends."""

    def __init__(
        self, worker_id: str, claimed_until: float, watch: Watch, clock: Callable[[], float] = time.time
    ) -> None:
        self._worker_id = worker_id
        self._claimed_until = claimed_until
        self._watch = watch
        self._clock = clock
        self._numbers = count()

    async def accept(self, delivery: Delivery) -> Work | None:
        """None when the run is over, paused or gone. Raises for a message that makes no sense."""
        piece = ProbeSlice.model_validate_json(delivery.body)
        run = await self._watch.open_run(piece.run, piece.epoch)
        return await asyncio.to_thread(self._take, piece, delivery, run) if run else None

    def _take(self, piece: ProbeSlice, delivery: Delivery, run: Run) -> Work:
        try:
            _check(piece, run)
            return self._claim(piece, delivery, run)
        except AppError as error:
            barrier.blame(piece.run, Node(0, piece.leaf), error.detail)
            raise

    def _claim(self, piece: ProbeSlice, delivery: Delivery, run: Run) -> Work:
        setting = setting_of(run, piece)
        for index in piece.indexes:
            setting.scenario(index)  # Reads their pages, which are kept: the event loop must not wait for them.
        if run.status is RunStatus.PENDING:
            _start(piece)
        claimant = f"{self._worker_id}:{next(self._numbers)}"
        wanted = Claim(frozenset(index % FANOUT for index in piece.indexes), self._claimed_until)
        item = barrier.claim(piece.run, Node(0, piece.leaf), claimant, wanted)
        others = item.others(claimant)
        division = divide(item.leaf, others, piece.indexes, self._clock())
        known = outcomes.recorded(run, division.doubtful) if division.doubtful else {}
        work = Work(piece, delivery, claimant, setting, deque(division.fresh), known=known)
        work.waiting.extend(index for index in division.doubtful if index not in known)
        for index in division.taken:
            # Not left to this message: its receives are few, and whoever works on the probe may die.
            work.postpone(index, LOOK_AGAIN_SECONDS)
        return work


def _check(piece: ProbeSlice, run: Run) -> None:
    if any(index // FANOUT != piece.leaf or index >= run.plan.total for index in piece.indexes):
        raise Invalid.field("indexes", f"must be probes of leaf {piece.leaf} of the run")
    if len({run.plan.targets[run.plan.probe(index).target].partition("/")[0] for index in piece.indexes}) > 1:
        raise Invalid.field("indexes", "must be probes of one provider")


def _start(piece: ProbeSlice) -> None:
    """The first probe moves the run. Whoever comes second, or after a pause, finds it moved."""
    now = utc_now()
    try:
        runs.move(piece.run, Action.START, now, epoch=piece.epoch, started_at=now)
    except (IllegalMove, Conflict):
        return
