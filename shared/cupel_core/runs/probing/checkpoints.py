"""Checkpoints of a probe's conversation in the table, from which the next worker to claim the probe resumes."""

import asyncio

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.store import checkpoints


@dataclass(frozen=True)
class TableCheckpoints:
    """The checkpoint of one probe in one retry round of its run."""

    ref: RunRef
    index: int
    retry_round: int

    async def load(self) -> ConversationState | None:
        return await asyncio.to_thread(checkpoints.load, self.ref, self.index, self.retry_round, utc_now())

    async def save(self, state: ConversationState) -> None:
        await asyncio.to_thread(checkpoints.save, self.ref, self.index, self.retry_round, state, utc_now())
