"""The heartbeat that reserves a worker's work for it while it is alive: messages stay hidden, claims are renewed.

SQS cannot know that a worker is dead, and the queue's own visibility timeout must be as long as the longest invocation.
So a worker hides its messages for half a minute at a time. When it dies, its messages become visible and its claims
expire soon after, and another worker takes over. A dead worker's slices are therefore free within 32 s.

The messages that Lambda delivers are hidden for longer than an invocation, so the worker shortens that first. A worker
that was so slow that its claim was revoked learns of it when it renews the claim: it starts no further call of that
slice, records the calls in flight and requeues the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress

from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.claims import SliceClaimer
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store import queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery

INTERVAL_SECONDS = 8.0
"""A claim survives one missed heartbeat. Hidden messages survive three, and no worker claims them meanwhile."""
HIDDEN_SECONDS = 32
"""A little longer than a claim, so that a dead worker's message is delivered after its claim has expired."""
_REPORT_TICK_SECONDS = 1.0
"""The worker checks this often whether conversations have begun that its claims do not name yet."""


class Heartbeat:
    """The messages that one worker has received and not settled, and the slices that it has claimed."""

    def __init__(self, claimer: SliceClaimer) -> None:
        self._claimer = claimer
        self._deliveries: dict[str, Delivery] = {}
        self._claimed: dict[str, ClaimedSlice] = {}

    async def shorten(self, deliveries: Sequence[Delivery]) -> None:
        """Hide messages for `HIDDEN_SECONDS`. An event source mapping hides them for longer."""
        await asyncio.to_thread(queues.hide, deliveries, HIDDEN_SECONDS)

    def add_deliveries(self, deliveries: Iterable[Delivery]) -> None:
        self._deliveries |= {delivery.receipt: delivery for delivery in deliveries}

    def add_claimed(self, claimed: ClaimedSlice) -> None:
        self._claimed[claimed.delivery.receipt] = claimed

    @property
    def claimed(self) -> Collection[ClaimedSlice]:
        return self._claimed.values()

    def idle_mb(self, workspace: str | None = None) -> float:
        """Return the size of the scenarios of these slices, or only a workspace's, that no conversation uses."""
        return sum(each.idle_mb for each in self.claimed if workspace in (None, each.probe_slice.workspace))

    def remove(self, delivery: Delivery) -> None:
        """Stop the heartbeat of a message whose slice has ended, or that must be redelivered."""
        self._deliveries.pop(delivery.receipt, None)
        self._claimed.pop(delivery.receipt, None)

    async def beat_periodically(self, acknowledge: Callable[[], Awaitable[None]]) -> None:
        """Beat periodically, and call `acknowledge` so that recorded messages are deleted before they become visible
        again."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                async with asyncio.timeout(INTERVAL_SECONDS):  # A call that hangs must not delay the next beat.
                    await self.beat()
            except Exception as error:  # noqa: BLE001 - without a next beat, others would repeat what this one runs
                log_unforeseen(error, "a heartbeat failed")
            await acknowledge()

    async def report_periodically(self) -> None:
        while True:
            await asyncio.sleep(_REPORT_TICK_SECONDS)
            try:
                await self.report()
            except Exception as error:  # noqa: BLE001 - only what readers of the progress see is late
                log_unforeseen(error, "the conversations in progress could not be reported")

    async def beat(self) -> None:
        """Hide all messages and renew the claims that end soon, concurrently. The next beat repeats what fails."""
        hidden = asyncio.to_thread(queues.hide, list(self._deliveries.values()), HIDDEN_SECONDS)
        due = [claimed for claimed in self._claimed.values() if self._claimer.is_renewal_due(claimed)]
        await asyncio.gather(hidden, *map(self.renew, due))

    async def report(self) -> None:
        """Write into the claims which of their conversations have begun since the last report, or were postponed."""
        due = [claimed for claimed in self._claimed.values() if self._claimer.is_report_due(claimed)]
        await asyncio.gather(*map(self.renew, due))

    async def renew(self, claimed: ClaimedSlice) -> None:
        with suppress(*AWS_ERRORS):
            await asyncio.to_thread(self._claimer.renew, claimed)
