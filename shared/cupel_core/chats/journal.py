"""The events of a turn while a worker has it: they are stored together, at the latest with what must not be lost."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cupel_core.clock import utc_now
from cupel_core.domain.chats.turns import TurnEvent, TurnEventType, TurnPhase
from cupel_core.messages import ChatRef
from cupel_core.store import chat_turns

MAX_EVENTS = 90
"""Of one transaction, which has at most 100 items."""


type Identity = tuple[object, ...] | None


class ClaimLost(Exception):
    """Another worker has the turn now, or it was ended."""


class TurnJournal:
    """Numbers and stores events. An event of an operation that an earlier worker has stored is not stored again."""

    def __init__(self, ref: ChatRef, turn_id: str, worker_id: str, earlier: Collection[TurnEvent]) -> None:
        self._ref, self._turn_id, self._worker_id = ref, turn_id, worker_id
        self._pending: list[tuple[TurnEventType, Mapping[str, Any]]] = []
        self.told = identities(earlier)
        self._lock = asyncio.Lock()
        self.last_seq = max((event.seq for event in earlier), default=0)
        self.phase = TurnPhase.PLANNING

    def add(self, kind: TurnEventType, data: Mapping[str, Any]) -> None:
        identity = identity_of(kind, data)
        if identity is None or identity not in self.told:
            self.told.add(identity)
            self._pending.append((kind, data))

    def enter(self, phase: TurnPhase, **data: Any) -> None:
        self.phase = phase
        self.add(TurnEventType.PHASE_CHANGED, {"phase": phase, **data})

    async def flush(
        self, checkpoint: Mapping[str, Any] | None = None, prompt: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Store what has gathered. A write that has begun is completed, whoever is cancelled. Raises ClaimLost."""
        if self._pending or checkpoint is not None or prompt is not None:
            await asyncio.shield(asyncio.ensure_future(self._write(checkpoint, prompt)))

    async def take(self) -> list[TurnEvent]:
        """What has gathered and is not stored yet, once every write has ended."""
        async with self._lock:
            return self._numbered()

    async def _write(self, checkpoint: Mapping[str, Any] | None, prompt: Sequence[Mapping[str, Any]] | None) -> None:
        async with self._lock:
            events = self._numbered()
            while len(events) > MAX_EVENTS:
                await self._record(events[:MAX_EVENTS], None, None)
                events = events[MAX_EVENTS:]
            await self._record(events, checkpoint, prompt)

    async def _record(
        self,
        events: Sequence[TurnEvent],
        checkpoint: Mapping[str, Any] | None,
        prompt: Sequence[Mapping[str, Any]] | None,
    ) -> None:
        ids = self._ref, self._turn_id, self._worker_id
        if not await asyncio.to_thread(chat_turns.record, *ids, events, self.phase, checkpoint, prompt):
            raise ClaimLost

    def _numbered(self) -> list[TurnEvent]:
        pending, self._pending = self._pending, []
        now = utc_now()
        events = [TurnEvent(self.last_seq + n, kind, now, data) for n, (kind, data) in enumerate(pending, 1)]
        self.last_seq += len(events)
        return events


def identities(events: Iterable[TurnEvent]) -> set[Identity]:
    return {identity_of(event.type, event.data) for event in events}


def identity_of(kind: TurnEventType, data: Mapping[str, Any]) -> Identity:
    """Of events that occur once in a turn; a main call may begin several times, and each ends once."""
    if kind in (TurnEventType.OPERATION_STARTED, TurnEventType.OPERATION_FINISHED):
        return kind, data["hook"], data["operationId"]
    if kind is TurnEventType.MAIN_FINISHED:
        return kind, data["attempt"]
    return (kind, data["phase"]) if kind is TurnEventType.PHASE_CHANGED else None
