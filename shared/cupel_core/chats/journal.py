"""The events of a turn that a worker collects and stores together, at the latest with results that must not be lost."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aws_lambda_powertools import Logger

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.turns import TurnEvent, TurnEventType, TurnPhase
from cupel_core.store import chat_turns
from cupel_core.store.clients import AWS_ERRORS, is_transient

MAX_EVENTS = 90
"""One transaction stores this many events. It has at most 100 items."""


_REPEAT_SECONDS = (0.05, 0.1, 0.2, 0.4)
logger = Logger(child=True)

type Identity = tuple[object, ...] | None


class ClaimLost(Exception):
    """Another worker has the turn now, or it was ended."""


async def repeated[**P, R](write: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Repeat a write while it fails because of concurrent writes. All turns of a chat write the chat's own item."""
    for seconds in _REPEAT_SECONDS:
        try:
            return await asyncio.to_thread(write, *args, **kwargs)
        except AWS_ERRORS as error:
            if not is_transient(error):
                raise
            logger.warning("a write of a turn is repeated", exc_info=True)
        await asyncio.sleep(seconds)
    return await asyncio.to_thread(write, *args, **kwargs)


class TurnJournal:
    """Numbers and stores events. An event of an operation that an earlier worker has stored is not stored again.
    Changes of the turn are stored with the next event, or before it, so no event reports the end of a call that could
    still be repeated."""

    def __init__(self, ref: ChatRef, turn_id: str, worker_id: str, earlier: Iterable[TurnEvent], last_seq: int) -> None:
        self._ref, self._turn_id, self._worker_id = ref, turn_id, worker_id
        self._checkpoint: Callable[[], Mapping[str, Any]] | None = None
        self._pending: list[tuple[TurnEventType, Mapping[str, Any]]] = []
        self.recorded = identities(earlier)
        self._lock = asyncio.Lock()
        self.last_seq = last_seq
        self.phase = TurnPhase.PLANNING

    def add(self, kind: TurnEventType, data: Mapping[str, Any]) -> None:
        identity = identity_of(kind, data)
        if identity is None or identity not in self.recorded:
            self.recorded.add(identity)
            self._pending.append((kind, data))

    def note_change(self, checkpoint: Callable[[], Mapping[str, Any]]) -> None:
        """Request that the result of `checkpoint` be stored, because it must not be lost."""
        self._checkpoint = checkpoint

    def enter(self, phase: TurnPhase, **data: Any) -> None:
        self.phase = phase
        self.add(TurnEventType.PHASE_CHANGED, {"phase": phase, **data})

    async def flush(self, prompt: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Store the collected events. A write that has begun is completed even if the task is cancelled. Raise
        ClaimLost."""
        if self._pending or self._checkpoint is not None or prompt is not None:
            await asyncio.shield(asyncio.ensure_future(self._write(prompt)))

    async def _write(self, prompt: Sequence[Mapping[str, Any]] | None) -> None:
        async with self._lock:
            while len(self._pending) > MAX_EVENTS:
                await self._record(None)
            if self._pending or self._checkpoint is not None or prompt is not None:
                await self._record(prompt)

    async def _record(self, prompt: Sequence[Mapping[str, Any]] | None) -> None:
        """Store the first collected events and all changes. Both remain collected if the write fails."""
        now, first = utc_now(), self._pending[:MAX_EVENTS]
        events = [TurnEvent(self.last_seq + n, kind, now, data) for n, (kind, data) in enumerate(first, 1)]
        changed, self._checkpoint = self._checkpoint, None
        checkpoint = changed() if changed is not None else None
        ids = self._ref, self._turn_id, self._worker_id
        try:
            is_written = await repeated(chat_turns.record, *ids, events, self.phase, checkpoint, prompt)
        except BaseException:
            self._checkpoint = self._checkpoint or changed
            raise
        seq = self.last_seq + len(events)
        # The answer to an earlier attempt may have been lost.
        if not is_written and not await repeated(chat_turns.is_recorded, *ids, seq):
            raise ClaimLost
        del self._pending[: len(events)]
        self.last_seq += len(events)


def identities(events: Iterable[TurnEvent]) -> set[Identity]:
    return {identity_of(event.type, event.data) for event in events}


def identity_of(kind: TurnEventType, data: Mapping[str, Any]) -> Identity:
    """Return the identity of an event that occurs once in a turn. A main call may begin several times, and each ends
    once."""
    if kind in (TurnEventType.OPERATION_STARTED, TurnEventType.OPERATION_FINISHED):
        return kind, data["hook"], data["operationId"]
    if kind is TurnEventType.MAIN_FINISHED:
        return kind, data["attempt"]
    return (kind, data["phase"]) if kind is TurnEventType.PHASE_CHANGED else None
