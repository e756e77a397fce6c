"""A receiver that claims slices from a worker's queue.

A queue delivers roughly in the order of arrival, so the slices of a workspace that fills the worker would hide those of
others. If a workspace already has as many pending probes in this worker as calls, its further slices are returned to
the queue unclaimed, with a longer delay the slower its conversations are. They are returned in new messages, after half
the time that the worker's pending probes of that workspace will take: at once with calls of 0.2 s, after up to 30 s
with calls of a minute. Void slices are dropped, not returned.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from pydantic import ValidationError

from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.limits.worker_capacity import SliceSize, slices_to_receive
from cupel_core.domain.runs.priority import Priority
from cupel_core.providers import queue_of
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.claims import SliceClaimer, send_rest
from cupel_core.runs.probing.committer import Committer, retry_delay_seconds
from cupel_core.runs.probing.heartbeat import HIDDEN_SECONDS, Heartbeat
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store import active_runs, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

_RECENT_SLICES = 3
_MAX_MESSAGES = 10
_MAX_LOOKS = 5
"""One look through the queue makes at most this many receives."""


class WorkspaceShares(Protocol):
    def has_use(self, workspace: str, received: int) -> bool:
        """Return whether another slice of this workspace is useful to the worker, after `received` probes about to be
        claimed."""

    def put_back_seconds(self, workspace: str) -> float:
        """Return the seconds after which a returned slice of this workspace should be delivered again."""


class SliceReceiver:
    def __init__(
        self,
        queue_url: str,
        wait_seconds: int,
        claimer: SliceClaimer,
        heartbeat: Heartbeat,
        committer: Committer,
        allowances: RunAllowances,
        shares: WorkspaceShares,
        add_to_backlog: Callable[[ClaimedSlice], Awaitable[None]],
        on_receive_end: Callable[[bool], None],
        is_shared: Callable[[], bool],
    ) -> None:
        """Set the callbacks of the worker. `add_to_backlog` is awaited with each slice that has probes.
        `on_receive_end` is called after each receive with whether it reached the end of the queue. `is_shared` returns
        whether several workspaces use the queue."""
        self.rejected: list[Delivery] = []
        """Deliveries that could not be claimed and must be redelivered."""
        self.is_queue_empty = False
        """True if the last receive found nothing useful."""
        self._queue_url = queue_url
        self._wait_seconds = wait_seconds
        self._claimer = claimer
        self._heartbeat = heartbeat
        self._committer = committer
        self._allowances = allowances
        self._shares = shares
        self._add_to_backlog = add_to_backlog
        self._on_receive_end = on_receive_end
        self._is_shared = is_shared
        self._task: asyncio.Task[None] | None = None
        self._recent_sizes: deque[SliceSize] = deque(maxlen=_RECENT_SLICES)
        self._has_put_back = False
        """True if some slices of the last receive were returned, because others may be behind them."""

    @property
    def is_receiving(self) -> bool:
        return self._task is not None

    def start_receiving(self, probes: int, room_mb: float) -> None:
        """Receive slices with about `probes` probes, whose scenarios fit into `room_mb`."""
        wanted = slices_to_receive(probes, room_mb, self._recent_sizes)
        max_slices = _MAX_MESSAGES if self._has_put_back else min(_MAX_MESSAGES, wanted)
        self._task = asyncio.create_task(self._receive(max_slices, 1))

    def start_looking(self) -> None:
        """Look through the queue for slices of other workspaces than those that the worker has enough of."""
        self._task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        """Look for slices, unless no other workspace uses the queue, because all would be returned."""
        try:
            is_shared = await asyncio.to_thread(self._is_shared)
        except (RetryableError, *AWS_ERRORS):
            is_shared = True
        if is_shared:
            await self._receive(_MAX_MESSAGES, _MAX_LOOKS)
        else:
            self._task = None
            self._on_receive_end(True)

    async def _receive(self, max_slices: int, max_receives: int) -> None:
        accepted = received = 0
        try:
            for _ in range(max_receives):
                deliveries = await asyncio.to_thread(
                    queues.receive, self._queue_url, max_slices, self._wait_seconds, HIDDEN_SECONDS
                )
                received, accepted = len(deliveries), accepted + await self.accept(deliveries)
                if received < max_slices:
                    break
        except Exception as error:  # noqa: BLE001 - the queue counts as empty, and the slices in progress go on
            log_unforeseen(error, "slices could not be received")
        self._task = None
        self.is_queue_empty = not accepted
        self._on_receive_end(received < max_slices)

    def forget_empty_receive(self) -> None:
        self.is_queue_empty = False

    async def accept(self, deliveries: Sequence[Delivery]) -> int:
        """Claim the slices concurrently, as each takes several requests, and return useless ones to the queue. Return
        how many are not returned."""
        self._heartbeat.add_deliveries(deliveries)
        surplus = await self._find_surplus(deliveries)
        others = [delivery for delivery in deliveries if delivery.receipt not in surplus]
        self._has_put_back = bool(surplus)
        await asyncio.gather(self._put_back(surplus), *map(self._accept_one, others))
        return len(others)

    async def _find_surplus(self, deliveries: Sequence[Delivery]) -> dict[str, tuple[Delivery, ProbeSlice]]:
        """Return, by receipt, the slices of workspaces that have enough probes in this worker. Void slices are not
        among them: they are dropped instead."""
        received, surplus = Counter[str](), dict[str, tuple[Delivery, ProbeSlice]]()
        for delivery in deliveries:
            probe_slice = _parse(delivery)
            if probe_slice is None:
                continue
            workspace = probe_slice.workspace
            if self._shares.has_use(workspace, received[workspace]):
                received[workspace] += len(probe_slice.indexes)
            elif await self._is_open(probe_slice):
                surplus[delivery.receipt] = delivery, probe_slice
        return surplus

    async def _is_open(self, probe_slice: ProbeSlice) -> bool:
        try:
            return await self._claimer.is_open(probe_slice)
        except (RetryableError, *AWS_ERRORS):  # The claim finds out.
            return True

    async def _put_back(self, surplus: Mapping[str, tuple[Delivery, ProbeSlice]]) -> None:
        """Send the slices again as new messages, as these have few receives left. A slice that is sent twice is claimed
        once."""
        by_workspace: dict[str, list[ProbeSlice]] = {}
        for _, probe_slice in surplus.values():
            by_workspace.setdefault(probe_slice.workspace, []).append(probe_slice)
        deliveries = [delivery for delivery, _ in surplus.values()]
        try:
            for workspace, slices in by_workspace.items():
                seconds = int(self._shares.put_back_seconds(workspace))
                await asyncio.to_thread(queues.send, self._queue_url, slices, seconds, workspace)
            await asyncio.to_thread(queues.delete, deliveries)
        except (RetryableError, *AWS_ERRORS) as error:
            log_unforeseen(error, "slices could not be put back")
            self.rejected += deliveries
        for delivery in deliveries:
            self._heartbeat.remove(delivery)

    async def _accept_one(self, delivery: Delivery) -> None:
        try:
            claimed = await self._claim(delivery)
        except Exception as error:  # noqa: BLE001 - the slice is redelivered, and the others go on
            log_unforeseen(error, "a slice could not be claimed")
            self._heartbeat.remove(delivery)
            await asyncio.to_thread(queues.redeliver_after, delivery, retry_delay_seconds(delivery.receive_count))
            self.rejected.append(delivery)
            return
        if claimed is None:
            self._heartbeat.remove(delivery)
            with suppress(*AWS_ERRORS):  # It is redelivered, and its run is still paused, over or deleted.
                await asyncio.to_thread(queues.delete, [delivery])
            return
        self._heartbeat.add_claimed(claimed)
        self._recent_sizes.append(SliceSize(len(claimed.probe_slice.indexes), claimed.scenario_mb))
        if claimed.is_done:
            self._committer.add_ended_slice(claimed)
        else:
            await self._add_to_backlog(claimed)

    async def _claim(self, delivery: Delivery) -> ClaimedSlice | None:
        """Claim a slice, or its first part if it is too large, and send the rest back. Return None if its run is
        paused, over or deleted."""
        claimed = await self._claimer.claim(delivery)
        if claimed is not None:
            await self._allowances.load_limits(claimed.probe_slice.workspace)
            if claimed.rest:
                await asyncio.to_thread(send_rest, claimed)
        return claimed


def _parse(delivery: Delivery) -> ProbeSlice | None:
    try:
        return ProbeSlice.model_validate_json(delivery.body)
    except ValidationError:
        return None


def is_shared(lane: str, priority: Priority) -> bool:
    """Return whether runs of two workspaces are being dispatched to this queue. Reading ends at the second one."""
    workspaces = set[str]()
    for run in active_runs.list_dispatched():
        if run.priority == priority and queue_of(run.provider) == lane:
            workspaces.add(run.workspace)
            if len(workspaces) > 1:
                return True
    return False
