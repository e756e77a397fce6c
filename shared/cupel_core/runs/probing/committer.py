"""Commits of outcomes. A commit has as many outcomes as calls are in flight, or those of about two seconds.

A commit writes in this order. Each step may be repeated, so a failed commit is repeated together with the next one. Its
answers have been paid for, and no new call starts meanwhile.

1. Long messages are written to the bucket. After a crash here, objects are left that nothing refers to, and the models
are called again.
2. The outcomes of each leaf are written as a new page of two items; one request writes those of up to twelve leaves.
After a crash here, the messages are redelivered, and the worker that claims their probes adds complete pages to the
logs of their leaves instead of repeating calls.
3. One update per leaf appends the page to the leaf's log and removes the claims of finished slices. After a crash here,
a leaf may be full without its parent knowing; the message is redelivered, and the leaf is propagated again.
4. Full leaves are added to their parents, up to the root, and a full root starts the execution `<runId>-<token>`. A
second start under that name succeeds without effect.
5. Requeued probes are sent as new messages. After a crash here, the old message is redelivered too, and its remainder
is claimed or done, or is run by the first worker that claims it.
6. The messages are deleted. One that was not deleted is redelivered and finds its work done.

Outcomes are written before the barrier, so every probe that the barrier counts has one. A crash repeats at most the
calls in flight and those answered since the last commit. An outcome that is too large, or cannot be encoded, is
replaced by an error, so that it does not delay the others of its commit.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.domain.runs.transcripts import Outcome, unstorable
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.invocation import InvocationTotals
from cupel_core.runs.probing.unforeseen import is_unforeseen, log_unforeseen
from cupel_core.runs.record_outcomes import record, record_dropped
from cupel_core.store import queues
from cupel_core.store.queues import Delivery

COMMIT_INTERVAL_SECONDS = 0.2
_MAX_COMMIT_SIZE = 100
"""A larger commit would save nothing, because about this many outcomes fit into a leaf."""
_MAX_WAIT_SECONDS = 1.7
"""A commit is due once an outcome has waited this long.

With the interval and the commit itself that makes about two seconds. A crash repeats the calls of waiting outcomes.
"""
_MAX_BEHIND_SECONDS = 5.0
"""No call starts while an outcome has waited for longer: on a busy machine, calls may end faster than commits."""
_BACKOFF_BASE = 2
_MAX_FAILED_COMMITS = 5
_ISOLATE_AFTER = 2
"""After this many unforeseen failures in a row, outcomes are written one by one, as one of them may always fail."""
_DELETE_BATCH_SIZE = 10
"""The most that one request deletes. Waiting for a full batch saves requests; a redelivery before is
harmless."""


@dataclass(frozen=True)
class FinishedProbe:
    claimed: ClaimedSlice
    index: int
    outcome: Outcome | None
    """None when the probe has no outcome: it was postponed, or its run was paused or cancelled."""


class Committer:
    """Records finished probes and ends the slices that they complete. One commit runs at a time."""

    def __init__(self, totals: InvocationTotals, on_settled: Callable[[Delivery], None] = lambda _: None) -> None:
        """Call `on_settled` with the delivery of each slice that has ended and is recorded."""
        self._finished: list[FinishedProbe] = []
        self._ended: list[ClaimedSlice] = []
        self._committed: list[Delivery] = []
        self._waiting_since: float | None = None
        """The event loop's time when the oldest waiting outcome or slice was added."""
        self._committing_since: float | None = None
        """The event loop's time when the oldest outcome or slice in the present commit was added."""
        self._totals = totals
        self._on_settled = on_settled
        self._failed_commits = 0
        self._unforeseen_failures = 0
        self._commit_lock = asyncio.Lock()

    def add(self, finished: FinishedProbe) -> None:
        self._finished.append(finished)
        self._start_waiting()

    def add_ended_slice(self, claimed: ClaimedSlice) -> None:
        self._ended.append(claimed)
        self._start_waiting()

    def _start_waiting(self) -> None:
        if self._waiting_since is None:
            self._waiting_since = asyncio.get_running_loop().time()

    @property
    def is_empty(self) -> bool:
        return not self._finished and not self._ended

    def is_due(self, in_flight: int) -> bool:
        """Return whether to commit now, while this many conversations are in progress. A small commit costs about as
        much as a large one. A crash repeats the calls in flight, and at most as many again that wait to be recorded."""
        if self._waiting_since is None:
            return False
        is_late = asyncio.get_running_loop().time() - self._waiting_since >= _MAX_WAIT_SECONDS
        has_enough = len(self._finished) >= min(_MAX_COMMIT_SIZE, max(1, in_flight))
        return is_late or has_enough or self._failed_commits > 0

    async def commit_periodically(self, count_in_flight: Callable[[], int]) -> None:
        while True:
            await asyncio.sleep(COMMIT_INTERVAL_SECONDS)
            if self.is_due(count_in_flight()):
                await self.commit()

    @property
    def may_start_calls(self) -> bool:
        """Return whether to pay for further calls: not after a failed commit, and not while commits are too late."""
        since = self._waiting_since if self._committing_since is None else self._committing_since
        is_behind = since is not None and asyncio.get_running_loop().time() - since > _MAX_BEHIND_SECONDS
        return not self._failed_commits and not is_behind

    async def flush(self) -> None:
        """Record what is left, or raise RetryableError, so that the messages are redelivered."""
        for attempt in range(_MAX_FAILED_COMMITS):
            await self.commit()
            if self.is_empty:
                await self.acknowledge()
                return
            await asyncio.sleep(COMMIT_INTERVAL_SECONDS * 2**attempt)
        raise RetryableError("outcomes could not be recorded")

    async def commit(self) -> None:
        """Record everything added so far. Model replies are paid for, so a failed commit is repeated with the next one,
        whatever the failure. Each of its steps is idempotent. A commit continues when its caller is cancelled; `flush`
        waits for it."""
        await asyncio.shield(asyncio.ensure_future(self._commit()))

    async def _commit(self) -> None:
        async with self._commit_lock:
            finished, self._finished = self._finished, []
            ended_without_probes, self._ended = self._ended, []
            waiting_since, self._waiting_since = self._waiting_since, None
            for probe in finished:
                probe.claimed.started.discard(probe.index)
            ended = _distinct([*ended_without_probes, *(probe.claimed for probe in finished if probe.claimed.is_done)])
            if not finished and not ended:
                return
            self._committing_since = waiting_since
            try:
                if self._unforeseen_failures >= _ISOLATE_AFTER:
                    finished = await asyncio.to_thread(_isolate, finished)
                await asyncio.to_thread(_write, finished, ended)
            except Exception as error:  # noqa: BLE001 - replies that are paid for may not be lost to any of them
                log_unforeseen(error, "outcomes could not be recorded")
                self._failed_commits += 1
                self._unforeseen_failures += is_unforeseen(error)
                self._finished, self._ended = finished + self._finished, ended_without_probes + self._ended
                self._start_waiting()
                return
            finally:
                self._committing_since = None
            self._failed_commits = self._unforeseen_failures = 0
            self._totals.add(probe.outcome for probe in finished if probe.outcome is not None)
            for claimed in ended:
                self._committed.append(claimed.delivery)
                self._on_settled(claimed.delivery)
            if len(self._committed) >= _DELETE_BATCH_SIZE:
                await self.acknowledge()

    async def acknowledge(self) -> None:
        done, self._committed = self._committed, []
        if not done:
            return
        try:
            await asyncio.to_thread(queues.delete, done)
        except Exception as error:  # noqa: BLE001 - what follows would be lost for messages that are only redelivered
            log_unforeseen(error, "messages could not be deleted")
            self._committed += done


def _distinct(claimed_slices: Iterable[ClaimedSlice]) -> list[ClaimedSlice]:
    return list({id(claimed): claimed for claimed in claimed_slices}.values())


def _write(finished: Sequence[FinishedProbe], ended: Sequence[ClaimedSlice]) -> None:
    """Write transcripts, then the barrier, then count and send what is left. Acknowledgements come afterwards."""
    entries = [*((probe.claimed, probe) for probe in finished), *((claimed, None) for claimed in ended)]
    entries.sort(key=lambda pair: (pair[0].probe_slice.run, pair[0].probe_slice.fencing_token))
    for _, group in groupby(entries, key=lambda pair: (pair[0].probe_slice.run, pair[0].probe_slice.fencing_token)):
        _record_run(list(group))
    for claimed in ended:
        if claimed.is_dropped:
            record_dropped(claimed.context.run, claimed.probe_slice)
        _send_remainders(claimed)


def _isolate(finished: Sequence[FinishedProbe]) -> list[FinishedProbe]:
    """Return the same probes, with an internal error in place of each outcome that cannot be written alone either."""
    return [replace(probe, outcome=_writable(probe)) for probe in finished]


def _writable(probe: FinishedProbe) -> Outcome | None:
    if probe.outcome is None:
        return None
    try:
        record(probe.claimed.context.run, probe.claimed.probe_slice.fencing_token, [probe.outcome])
    except Exception as error:
        if not is_unforeseen(error):
            raise
        log_unforeseen(error, "an outcome could not be recorded")
        return unstorable(probe.outcome, f"{type(error).__name__}: {error}")
    return probe.outcome


def _record_run(group: Sequence[tuple[ClaimedSlice, FinishedProbe | None]]) -> None:
    ended = [claimed for claimed, finished in group if finished is None]
    released: dict[int, list[str]] = {}
    for claimed in ended:
        released.setdefault(claimed.probe_slice.leaf, []).append(claimed.claimant)
    new_outcomes = [probe.outcome for _, probe in group if probe is not None and probe.outcome is not None]
    first, _ = group[0]
    record(first.context.run, first.probe_slice.fencing_token, new_outcomes, released)


def _send_remainders(claimed: ClaimedSlice) -> None:
    for remainder, delay_seconds in claimed.remainder_messages():
        queues.send(
            claimed.delivery.queue_url, [remainder], delay_seconds=round(delay_seconds), group=remainder.workspace
        )


def retry_delay_seconds(failures: int) -> float:
    return float(_BACKOFF_BASE**failures)
