"""The checkpoints of a conversation while it runs: they always have its newest state and its failed attempts."""

import asyncio
from typing import Protocol

from cupel_core.base.deferred import replace
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.providers.attempt_log import AttemptLog


class CheckpointStore(Protocol):
    """Stores the state of an unfinished conversation, so that calls already paid for are not repeated."""

    async def load(self) -> ConversationState | None: ...

    async def save(self, state: ConversationState) -> None: ...


class ResumableState:
    """Saves the newest state, one save at a time: an attempt may fail while another part of the state is saved."""

    def __init__(self, store: CheckpointStore, log: AttemptLog, state: ConversationState) -> None:
        self.latest = state
        self._store = store
        self._log = log
        self._saving = asyncio.Lock()
        log.resume(state.attempts, self.save_latest)

    async def save(self, state: ConversationState) -> None:
        self.latest = state
        await self.save_latest()

    async def save_latest(self) -> None:
        async with self._saving:
            await self._store.save(replace(self.latest, attempts=self._log.failed))
