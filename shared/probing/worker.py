"""One invocation's work on one provider's queue.

The event source mapping hands over the first slices; while there are free slots the worker receives further ones
itself and deletes them after their commit, because one message per invocation would leave it idle between slices.
Near its deadline it starts nothing new, lets what is in flight finish, and hands the rest on.
"""

import asyncio
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from random import Random

from pydantic import ValidationError

from shared.clock import utc_now
from shared.domain.runs import Priority
from shared.domain.transcripts import Outcome, ProbeError
from shared.errors import AppError
from shared.messages import ProbeSlice
from shared.probing.committer import EVERY_SECONDS, Committer, Finished, backoff_seconds
from shared.probing.intake import Intake
from shared.probing.talk import hold
from shared.probing.tally import Tally
from shared.probing.turn import Halted, Target
from shared.probing.watch import Watch
from shared.probing.work import Work
from shared.providers.account import Account
from shared.providers.errors import PleaseWait, ProviderError
from shared.settings import settings
from shared.store import queues
from shared.store.clients import AWS_ERRORS
from shared.store.queues import Delivery

MOST_CONCURRENT = 50
"""Conversations of one invocation."""
MARGIN_SECONDS = 6.0
"""Kept free at the end of an invocation for the last commit."""
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
        self._queue_url = settings().probe_queue_url(provider, priority)
        self._clock = clock
        self._linger_seconds = linger_seconds
        self._last_commit_at = ends_at - MARGIN_SECONDS
        self._watch = Watch()
        self._intake = Intake(uuid.uuid4().hex[:12], ends_at, self._watch, clock)
        self._committer = Committer(self.tally)
        self._backlog: deque[Work] = deque()
        self._running: Counter[str] = Counter()
        self._fetching: asyncio.Task[None] | None = None
        self._is_dry = False
        self._wake = asyncio.Event()
        self._rng = Random()  # noqa: S311 - jitter
        self._refused: list[Delivery] = []

    async def run(self, deliveries: Iterable[Delivery]) -> list[Delivery]:
        """Works until the queue is empty or time is short; answers the deliveries that are to come again."""
        committing = asyncio.create_task(self._commit_regularly())
        try:
            await self._accept(deliveries)
            while not self._is_over():
                await self._step()
        finally:
            committing.cancel()
        await self._committer.finish()
        return [*self._committer.failed, *self._refused]

    async def _step(self) -> None:
        self._wake.clear()
        if self._is_closing:
            self._postpone_backlog()
        else:
            self._begin()
            self._look_for_more()
        if not self._running.total():
            await self._committer.commit()
        if self._running.total() or self._fetching:
            await self._woken()

    def _is_over(self) -> bool:
        nothing_to_do = not self._running.total() and not self._backlog and not self._fetching
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
            workspace, slots = work.piece.workspace, slots_of(work.setting.account)
            while work.waiting and self._running[workspace] < slots and self._running.total() < MOST_CONCURRENT:
                index = work.begin()
                self._running[workspace] += 1
                probe = asyncio.create_task(self._hold(work, index))
                probe.add_done_callback(partial(self._finish, work, index))
            if not work.waiting:
                self._backlog.remove(work)

    def _look_for_more(self) -> None:
        """Receives further slices while less is waiting than there are slots."""
        waiting = sum(len(work.waiting) for work in self._backlog)
        if self._fetching is None and not self._is_dry and waiting < self._slots:
            self._fetching = asyncio.create_task(self._fetch())

    @property
    def _slots(self) -> int:
        return min((slots_of(work.setting.account) for work in self._backlog), default=MOST_CONCURRENT // 2)

    async def _fetch(self) -> None:
        deliveries = await asyncio.to_thread(queues.receive, self._queue_url, 1, self._linger_seconds)
        await self._accept(deliveries)
        self._fetching = None
        self._is_dry = not deliveries
        if self._is_dry and self._running.total():
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
                await asyncio.to_thread(queues.delete, [delivery])
            elif work.is_done:
                self._committer.end(work)
            else:
                self._backlog.append(work)

    async def _hold(self, work: Work, index: int) -> Outcome | None:
        """The probe's outcome, or None when it was postponed or its run is not open any more."""
        target = Target(
            account=work.setting.account,
            model=work.setting.model(index),
            call_timeout_seconds=settings().call_timeout_seconds,
            rng=self._rng,
            on_retry=self._on_retry,
            may_call=partial(self._may_call, work.piece),
        )
        days = settings().transcript_retention_days
        kept_for = timedelta(days=days) if days else None
        try:
            async with asyncio.timeout(self._last_commit_at - self._clock()):
                return await hold(work.setting.task(index), target, utc_now, kept_for)
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
            work.postpone(index, wait.retry_after_seconds)
            work.asked_to_wait = True
            return None
        task = work.setting.task(index)
        return ProbeError(
            index, task.scenario.id, work.setting.model(index), wait.code, wait.detail, wait.attempts, utc_now()
        )

    def _finish(self, work: Work, index: int, probe: "asyncio.Task[Outcome | None]") -> None:
        self._running[work.piece.workspace] -= 1
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
            while work.waiting:
                work.postpone(work.waiting.popleft(), 0.0)
            if work.is_done:
                self._committer.end(work)
        self._backlog.clear()

    async def _commit_regularly(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self._committer.commit()


def slots_of(account: Account) -> int:
    """This worker's part of what the account allows at a time."""
    return max(1, min(MOST_CONCURRENT, account.max_parallel_requests // settings().probe_workers))
