"""Saving of a conversation while it runs: its checkpoints, and values that are saved soon after they changed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.providers.attempt_log import AttemptLog

DELAY_SECONDS = 1.0
"""A crash loses changes of this time and of one write."""


@dataclass
class DelayedSaver:
    """Calls `save` at most every `delay_seconds` while there are changes. One call runs at a time."""

    save: Callable[[], Coroutine[Any, Any, None]]
    delay_seconds: float = DELAY_SECONDS
    _timer: asyncio.TimerHandle | None = None
    _writing: asyncio.Task[None] | None = None
    _is_changed: bool = False
    _is_stopped: bool = False

    def note_change(self) -> None:
        self._is_changed = True
        if self._timer is None and self._writing is None and not self._is_stopped:
            self._timer = asyncio.get_running_loop().call_later(self.delay_seconds, self._start)

    async def stop(self) -> None:
        """Start no further save, and wait for the one in progress, whose failure is not raised."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await asyncio.wait({self._writing})

    async def flush(self) -> None:
        await self.stop()
        if self._is_changed:
            await self.save()

    def _start(self) -> None:
        self._timer, self._is_changed = None, False
        self._writing = asyncio.create_task(self.save())
        self._writing.add_done_callback(self._on_saved)

    def _on_saved(self, writing: asyncio.Task[None]) -> None:
        self._writing = None
        if writing.cancelled() or writing.exception() is not None:
            self._is_changed = True
        elif self._is_changed:
            self.note_change()


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
