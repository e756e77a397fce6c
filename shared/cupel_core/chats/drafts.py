"""Drafts: the text of a main call as it arrives. A lost draft is harmless, because the answer is stored separately."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aws_lambda_powertools import Logger

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.drafts import MAX_PIECE_LENGTH, TextPiece
from cupel_core.domain.text.storable import storable
from cupel_core.store import chat_drafts
from cupel_core.store.clients import AWS_ERRORS

logger = Logger(child=True)
WRITE_SECONDS = 0.25
"""The time between two writes. The first text is written at once."""


class DraftWriter:
    def __init__(
        self, ref: ChatRef, turn_id: str, last_attempt: int, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Continue after `last_attempt`, the last one of earlier workers."""
        self._ref, self._turn_id = ref, turn_id
        self._attempt, self._offset = last_attempt, 0
        self._pending: list[str] = []
        self._texts: list[str] = []
        self._has_text = asyncio.Event()
        self._lock = asyncio.Lock()
        self._sleep = sleep
        self._is_broken = False

    def begin(self) -> None:
        """Begin an attempt at the call. The text of earlier ones becomes void."""
        self._attempt, self._offset = self._attempt + 1, 0
        self._pending.clear()
        self._texts.clear()
        self._is_broken = False

    def add(self, text: str) -> None:
        if not text:
            return
        stored = storable(text)
        self._texts.append(stored)
        if not self._is_broken:
            self._pending.append(stored)
            self._has_text.set()

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write text that is added within the block: all of it, unless an error ends the call."""
        task = asyncio.ensure_future(self._write_regularly())
        try:
            yield
            task.cancel()
            await self._write()  # It waits for the last write of the task.
            while self._pending:
                await self._write()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _write_regularly(self) -> None:
        while True:
            await self._has_text.wait()
            self._has_text.clear()
            await self._write()
            await self._sleep(WRITE_SECONDS)

    async def _write(self) -> None:
        """Write the text. A write that has begun is completed, so that no later one overtakes it."""
        await asyncio.shield(asyncio.ensure_future(self._write_piece()))

    async def _write_piece(self) -> None:
        async with self._lock:
            text = "".join(self._pending)
            piece = TextPiece(self._attempt, self._offset, text[:MAX_PIECE_LENGTH])
            if not piece.text:
                return
            rest = text[MAX_PIECE_LENGTH:]
            self._pending[:] = [rest] if rest else []
            if rest:
                self._has_text.set()
            self._offset += len(piece.text)
            try:
                written = await asyncio.to_thread(chat_drafts.append, self._ref, self._turn_id, piece, utc_now())
            except AWS_ERRORS:
                logger.warning("the draft of a turn could not be written", exc_info=True)
                written = False
            if not written:  # Another worker writes the text now, and readers have its pieces.
                self._is_broken = True
                self._pending.clear()
