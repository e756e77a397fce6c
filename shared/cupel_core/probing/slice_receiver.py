"""Receives slices from a worker's queue and claims them."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from cupel_core.domain.limits.worker_capacity import SliceSize, slices_to_receive
from cupel_core.probing.claimed_slice import ClaimedSlice
from cupel_core.probing.claims import SliceClaimer, send_rest
from cupel_core.probing.committer import Committer, retry_delay_seconds
from cupel_core.probing.heartbeat import HIDDEN_SECONDS, Heartbeat
from cupel_core.probing.run_allowances import RunAllowances
from cupel_core.probing.unforeseen import log_unforeseen
from cupel_core.store import queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

_RECENT_SLICES = 3


class SliceReceiver:
    """Receives for one worker. One receive is in progress at a time."""

    def __init__(
        self,
        queue_url: str,
        wait_seconds: int,
        claimer: SliceClaimer,
        heartbeat: Heartbeat,
        committer: Committer,
        allowances: RunAllowances,
        add_to_backlog: Callable[[ClaimedSlice], Awaitable[None]],
        on_receive_end: Callable[[], None],
    ) -> None:
        """`add_to_backlog` is awaited with each slice that has probes, `on_receive_end` called after each receive."""
        self.rejected: list[Delivery] = []
        """The deliveries that could not be claimed and must be redelivered."""
        self.is_queue_empty = False
        """Whether the last receive found nothing."""
        self._queue_url = queue_url
        self._wait_seconds = wait_seconds
        self._claimer = claimer
        self._heartbeat = heartbeat
        self._committer = committer
        self._allowances = allowances
        self._add_to_backlog = add_to_backlog
        self._on_receive_end = on_receive_end
        self._task: asyncio.Task[None] | None = None
        self._recent_sizes: deque[SliceSize] = deque(maxlen=_RECENT_SLICES)

    @property
    def is_receiving(self) -> bool:
        return self._task is not None

    def start_receiving(self, probes: int, room_mb: float) -> None:
        """Receive slices with about `probes` probes, whose scenarios fit into `room_mb`."""
        self._task = asyncio.create_task(self._receive(slices_to_receive(probes, room_mb, self._recent_sizes)))

    async def _receive(self, max_slices: int) -> None:
        deliveries: list[Delivery] = []
        try:
            deliveries = await asyncio.to_thread(
                queues.receive, self._queue_url, max_slices, self._wait_seconds, HIDDEN_SECONDS
            )
            await self.accept(deliveries)
        except Exception as error:  # noqa: BLE001 - the queue counts as empty, and the slices in progress go on
            log_unforeseen(error, "slices could not be received")
        self._task = None
        self.is_queue_empty = not deliveries
        self._on_receive_end()

    def forget_empty_receive(self) -> None:
        self.is_queue_empty = False

    async def accept(self, deliveries: Sequence[Delivery]) -> None:
        """Claim the slices side by side: each takes several requests, and up to ten are received at once."""
        self._heartbeat.add_deliveries(deliveries)
        await asyncio.gather(*map(self._accept_one, deliveries))

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
        """Claim a slice, or its first part if it is too large, and send the rest back; None if its run is paused, over
        or deleted."""
        claimed = await self._claimer.claim(delivery)
        if claimed is not None:
            await self._allowances.load_limits(claimed.probe_slice.workspace)
            if claimed.rest:
                await asyncio.to_thread(send_rest, claimed)
        return claimed
