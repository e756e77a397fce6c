"""Writes go by time, not by probe: what finished within a fifth of a second is recorded together."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.errors import RetryableError
from cupel_core.probing.claimed_slice import Work
from cupel_core.probing.invocation_totals import Tally
from cupel_core.record_outcomes import record
from cupel_core.store import barrier, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

EVERY_SECONDS = 0.2
_BACKOFF_BASE = 2
_MOST_SETBACKS = 5
_ACKNOWLEDGED_AT_ONCE = 10
"""As many as one request deletes: each is billed. What is deleted later may come twice and finds its work done."""


@dataclass(frozen=True)
class Finished:
    work: Work
    index: int
    outcome: Outcome | None
    """None when the probe ended without one: it was postponed, or its run was paused or cancelled."""


class Committer:
    """Takes finished probes and ends the slices they complete. One commit runs at a time."""

    def __init__(self, tally: Tally) -> None:
        self._finished: list[Finished] = []
        self._ended: list[Work] = []
        self._done: list[Delivery] = []
        self._tally = tally
        self.setbacks = 0
        """Commits that failed since the last that did not."""
        self._one_at_a_time = asyncio.Lock()
        self.failed: list[Delivery] = []

    def take(self, finished: Finished) -> None:
        self._finished.append(finished)

    def end(self, work: Work) -> None:
        """For a slice that has nothing to run."""
        self._ended.append(work)

    @property
    def is_empty(self) -> bool:
        return not self._finished and not self._ended

    async def finish(self) -> None:
        """Records the rest, or raises RetryableError: the messages then come again."""
        for setback in range(_MOST_SETBACKS):
            await self.commit()
            if self.is_empty:
                await self._acknowledge()
                return
            await asyncio.sleep(EVERY_SECONDS * 2**setback)
        raise RetryableError("outcomes could not be recorded")

    async def commit(self) -> None:
        """Records everything taken so far.

        What a model has answered is paid for, so a commit that fails is tried again with the next one; each of its
        steps may be repeated. Whoever asked may be cancelled, the commit goes on: `finish` waits for it.
        """
        await asyncio.shield(asyncio.ensure_future(self._commit()))

    async def _commit(self) -> None:
        async with self._one_at_a_time:
            finished, self._finished = self._finished, []
            waiting, self._ended = self._ended, []
            for one in finished:
                one.work.begun.discard(one.index)
            ended = _distinct([*waiting, *(one.work for one in finished if one.work.is_done)])
            if not finished and not ended:
                return
            try:
                await asyncio.to_thread(_write, finished, ended)
            except (*AWS_ERRORS, RetryableError):
                self.setbacks += 1
                self._finished, self._ended = finished + self._finished, waiting + self._ended
                return
            self.setbacks = 0
            self._tally.add(one.outcome for one in finished if one.outcome is not None)
            self.failed += [work.delivery for work in ended if work.is_to_come_again]
            self._done += [work.delivery for work in ended if not work.is_to_come_again]
            if len(self._done) >= _ACKNOWLEDGED_AT_ONCE:
                await self._acknowledge()

    async def _acknowledge(self) -> None:
        done, self._done = self._done, []
        try:
            await asyncio.to_thread(queues.delete, done)
        except AWS_ERRORS:
            self._done += done


def _distinct(works: Iterable[Work]) -> list[Work]:
    return list({id(work): work for work in works}.values())


def _write(finished: Sequence[Finished], ended: Sequence[Work]) -> None:
    """Transcripts, barrier, what is handed on; the acknowledgements come after it."""
    everything = [*((one.work, one) for one in finished), *((work, None) for work in ended)]
    everything.sort(key=lambda pair: (pair[0].piece.run, pair[0].piece.epoch))
    for _, group in groupby(everything, key=lambda pair: (pair[0].piece.run, pair[0].piece.epoch)):
        _record_run(list(group))
    for work in ended:
        _hand_on(work)
        if work.is_to_come_again:
            _let_come_again(work)


def _record_run(group: Sequence[tuple[Work, Finished | None]]) -> None:
    works = _distinct(work for work, _ in group)
    ended = [work for work, finished in group if finished is None]
    released: dict[int, list[str]] = {}
    for work in ended:
        released.setdefault(work.piece.leaf, []).append(work.claimant)
    known = {index: completed for work in works for index, completed in work.known.items()}
    found = [one.outcome for _, one in group if one is not None and one.outcome is not None]
    record(works[0].setting.run, works[0].piece.epoch, found, known, released)


def _hand_on(work: Work) -> None:
    for rest, delay_seconds in work.rests():
        queues.send(work.delivery.queue_url, [rest], delay_seconds=round(delay_seconds), group=rest.run_id)


def _let_come_again(work: Work) -> None:
    if work.error is not None:
        barrier.blame(work.piece.run, Node(0, work.piece.leaf), work.error)
    queues.show_again(work.delivery, backoff_seconds(work.delivery))


def backoff_seconds(delivery: Delivery) -> float:
    """When a message that failed is to come again: sooner the first time than after several."""
    return float(_BACKOFF_BASE**delivery.receive_count)
