"""Where a probe's conversation is kept while it goes on: in the table, so that whoever gets the probe next goes on."""

import asyncio
from dataclasses import dataclass

from cupel_core.clock import utc_now
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.messages import RunRef
from cupel_core.store import checkpoints


@dataclass(frozen=True)
class Checkpoints:
    """Of one probe in one generation of its run."""

    ref: RunRef
    index: int
    generation: int

    async def recall(self) -> Dialogue | None:
        return await asyncio.to_thread(checkpoints.get, self.ref, self.index, self.generation)

    async def keep(self, dialogue: Dialogue) -> None:
        await asyncio.to_thread(checkpoints.put, self.ref, self.index, self.generation, dialogue, utc_now())
