"""One invocation's work on one provider's queue.

The event source mapping hands over the first slices; while there are free slots the worker receives further ones
itself and deletes them after their commit, because one message per invocation would leave it idle between slices.
Near its deadline it starts nothing new, lets what is in flight finish, and hands the rest on.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from random import Random

from pydantic import ValidationError

from cupel_core.clock import utc_now
from cupel_core.conversations.runner import hold
from cupel_core.conversations.turn import Halted, Target
from cupel_core.domain.limits.governor import Limits
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.errors import AppError
from cupel_core.messages import ProbeSlice
from cupel_core.probing.checkpoints import Checkpoints
from cupel_core.probing.claimed_slice import ASKED, Work
from cupel_core.probing.claims import Intake
from cupel_core.probing.committer import EVERY_SECONDS, Committer, Finished, backoff_seconds
from cupel_core.probing.graders import Judges
from cupel_core.probing.invocation_totals import Tally
from cupel_core.probing.leases import Place, Share
from cupel_core.probing.run_cache import Watch
from cupel_core.providers.completion import Attempt
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.settings import settings
from cupel_core.store import queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

MOST_CONCURRENT = 50
"""Conversations of one invocation."""
WORTH_A_RECEIVE = 10
"""Probes. Each receive is billed, and the last slices of a run are small."""
MARGIN_SECONDS = 6.0
"""Kept free at the end of an invocation for the last commit."""
GOVERN_SECONDS = 0.1
MOST_HANDOFFS = 20
"""A provider that has asked so often to wait is recorded as the probe's error."""


class Worker:
    """Until `ends_at` (seconds since 1970) at the latest. A worker is for one invocation and one queue."""

    def __init__(
        self,
        provider: str,
        ends_at: float,
        clock: Callable[[], float] = time.time,
        linger_seconds: int = 1,
        priority: Priority = Priority.NORMAL,
    ) -> None:
        """`linger_seconds` is how long a receive waits for a message to come."""
        self.tally = Tally()
        self._provider = provider
        self._priority = priority
        self._queue_url = settings().probe_queue_url(provider, priority)
        self._clock = clock
        self._linger_seconds = linger_seconds
        self._last_commit_at = ends_at - MARGIN_SECONDS
        self._watch = Watch()
        self._id = uuid.uuid4().hex[:12]
        self._intake = Intake(self._id, ends_at, self._watch, clock)
        self._committer = Committer(self.tally)
        self._backlog: deque[Work] = deque()
        self._shares: dict[str, Share] = {}
        self._fetching: asyncio.Task[None] | None = None
        self._slice_size = MOST_CONCURRENT
        """Of the last slice; the next ones are as large or smaller."""
        self._is_dry = False
        self._wake = asyncio.Event()
        self._rng = Random()  # noqa: S311 - jitter
        self._judges = Judges(self._rng)
        self._refused: list[Delivery] = []

    async def run(self, deliveries: Iterable[Delivery]) -> list[Delivery]:
        """Works until the queue is empty or time is short; answers the deliveries that are to come again."""
        regularly = [asyncio.create_task(self._commit_regularly()), asyncio.create_task(self._govern_regularly())]
        try:
            await self._accept(deliveries)
            while not self._is_over():
                await self._step()
        finally:
            for task in regularly:
                task.cancel()
        await asyncio.gather(*(share.leave() for share in self._shares.values()))
        await self._committer.finish()
        return [*self._committer.failed, *self._refused]

    async def _step(self) -> None:
        self._wake.clear()
        if self._is_closing:
            self._postpone_backlog()
        else:
            self._begin()
            self._look_for_more()
        if not self._running:
            await self._committer.commit()
        if self._running or self._fetching or self._backlog:
            await self._woken()

    @property
    def _running(self) -> int:
        return sum(share.running for share in self._shares.values())

    def _is_over(self) -> bool:
        nothing_to_do = not self._running and not self._backlog and not self._fetching
        return nothing_to_do and (self._is_dry or self._is_closing)

    @property
    def _is_closing(self) -> bool:
        """Whether a call begun now might not be over in time."""
        return self._clock() > self._last_commit_at - settings().call_timeout_seconds

    async def _woken(self) -> None:
        try:
            async with asyncio.timeout(1.0):
                await self._wake.wait()
        except TimeoutError:
            return

    def _begin(self) -> None:
        """Starts what the slots allow, oldest slice first."""
        if self._committer.setbacks:
            return  # Nothing is paid for that may not be recorded.
        for work in list(self._backlog):
            self._begin_some(work, self._share_of(work))
            if not work.waiting:
                self._backlog.remove(work)
                if work.is_done:
                    self._committer.end(work)

    def _begin_some(self, work: Work, share: Share) -> None:
        """What cannot run for some time goes back to the queue: it may be another's to run, and waiting is paid for."""
        delay = share.delay()
        if delay is not None:
            work.postpone_waiting(delay)
        for index in tuple(work.waiting):
            if not share.free or self._running >= MOST_CONCURRENT:
                return
            model = work.setting.model(index)
            held = share.held_seconds(model)
            if held is None:
                work.begin(index)
                probe = asyncio.create_task(self._hold(work, index, share.begin(model)))
                probe.add_done_callback(partial(self._finish, work, index))
            elif held:
                work.hold_back(index, held, model)

    def _look_for_more(self) -> None:
        """Receives further slices when clearly less is waiting than there are slots."""
        slots = self._slots
        lacking = slots - sum(len(work.waiting) for work in self._backlog)
        if self._fetching is None and not self._is_dry and lacking >= min(WORTH_A_RECEIVE, slots):
            self._fetching = asyncio.create_task(self._fetch(-(-lacking // self._slice_size)))

    @property
    def _slots(self) -> int:
        granted = (max(1, self._share_of(work).slots) for work in self._backlog)
        return min(granted, default=MOST_CONCURRENT // 2)

    def _share_of(self, work: Work) -> Share:
        workspace = work.piece.workspace
        if workspace not in self._shares:
            place = Place(workspace, self._provider, self._id, self._priority)
            self._shares[workspace] = Share(place, self._clock, self._rng)
        return self._shares[workspace]

    async def _admit(self, work: Work) -> None:
        self._backlog.append(work)
        account = work.setting.account
        self._share_of(work).limits = Limits(
            account.max_parallel_requests, account.requests_per_minute, account.tokens_per_minute
        )
        await self._govern(work.piece.workspace)

    async def _govern(self, workspace: str) -> None:
        """Renews a workspace's share when it is time."""
        share, works = self._shares[workspace], [work for work in self._backlog if work.piece.workspace == workspace]
        wanted = min(MOST_CONCURRENT, share.running + sum(len(work.waiting) for work in works))
        if share.is_due(wanted):
            models = frozenset(work.setting.model(index) for work in works for index in work.waiting)
            await asyncio.shield(share.renew(wanted, models))
            self._wake.set()

    async def _govern_regularly(self) -> None:
        while True:
            await asyncio.sleep(GOVERN_SECONDS)
            for workspace in tuple(self._shares):
                await self._govern(workspace)

    async def _fetch(self, most: int) -> None:
        """Receives as many slices as fill what is free: no more, because the others are to share in the rest."""
        deliveries: list[Delivery] = []
        with suppress(*AWS_ERRORS):  # A queue that does not answer counts as empty: its messages are the next's.
            deliveries = await asyncio.to_thread(queues.receive, self._queue_url, most, self._linger_seconds)
        await self._accept(deliveries)
        self._fetching = None
        self._is_dry = not deliveries
        if self._is_dry and self._running:
            asyncio.get_running_loop().call_later(EVERY_SECONDS, self._ask_again)
        self._wake.set()

    def _ask_again(self) -> None:
        self._is_dry = False
        self._wake.set()

    async def _accept(self, deliveries: Iterable[Delivery]) -> None:
        for delivery in deliveries:
            try:
                work = await self._intake.accept(delivery)
            except (ValidationError, AppError, *AWS_ERRORS):
                await asyncio.to_thread(queues.show_again, delivery, backoff_seconds(delivery))
                self._refused.append(delivery)
                continue
            if work is None:
                with suppress(*AWS_ERRORS):  # It comes again, and its run is still not open or gone.
                    await asyncio.to_thread(queues.delete, [delivery])
                continue
            self._slice_size = len(work.piece.indexes)
            if work.is_done:
                self._committer.end(work)
            else:
                await self._admit(work)

    async def _hold(self, work: Work, index: int, attempt: Attempt) -> Outcome | None:
        """The probe's outcome, or None when it was postponed or its run is not open any more."""
        model, may_call = work.setting.model(index), partial(self._may_call, work.piece)
        target = Target(
            account=work.setting.account_of(model),
            model=model,
            call_timeout_seconds=settings().call_timeout_seconds,
            rng=self._rng,
            on_retry=self._on_retry,
            may_call=may_call,
            attempt=attempt,
        )
        days = settings().transcript_retention_days
        kept_for = timedelta(days=days) if days else None
        task = work.setting.task(index, self._judges.panel(work.setting, may_call))
        memory = Checkpoints(work.piece.run, index, work.setting.run.generation)
        try:
            async with asyncio.timeout(self._last_commit_at - self._clock()):
                return await hold(task, target, memory, utc_now, kept_for)
        except PleaseWait as wait:
            return self._postponed(work, index, wait)
        except TimeoutError:
            work.postpone(index, 0.0)
        except Halted:
            if self._is_closing:
                work.postpone(index, 0.0)
        return None

    async def _may_call(self, piece: ProbeSlice) -> bool:
        return not self._is_closing and await self._watch.open_run(piece.run, piece.epoch) is not None

    def _postponed(self, work: Work, index: int, wait: PleaseWait) -> Outcome | None:
        if work.piece.handoffs < MOST_HANDOFFS:
            work.postpone(index, wait.retry_after_seconds, ASKED)
            return None
        return work.setting.given_up(index, wait, utc_now())

    def _finish(self, work: Work, index: int, probe: "asyncio.Task[Outcome | None]") -> None:
        self._shares[work.piece.workspace].end()
        error = probe.exception()
        if error is not None:
            # Not a provider's error but ours: the message comes again, and ends as a dead letter if it goes on so.
            work.error = f"{type(error).__name__}: {error}"
        self._committer.take(Finished(work, index, None if error else probe.result()))
        self._wake.set()

    def _on_retry(self, error: ProviderError, wait_seconds: float) -> None:
        del wait_seconds
        self.tally.retried(error.code)

    def _postpone_backlog(self) -> None:
        for work in self._backlog:
            work.postpone_waiting(0.0)
            if work.is_done:
                self._committer.end(work)
        self._backlog.clear()

    async def _commit_regularly(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self._committer.commit()
