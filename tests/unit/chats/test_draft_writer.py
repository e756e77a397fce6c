"""The writer of drafts: how often it writes, in which order, and what it does when it cannot."""

import asyncio
import threading

import pytest
from botocore.exceptions import EndpointConnectionError

from cupel_core.base.messages import ChatRef
from cupel_core.chats import drafts
from cupel_core.chats.drafts import WRITE_SECONDS, DraftWriter
from cupel_core.domain.chats.drafts import MAX_PIECE_LENGTH, TextPiece

REF = ChatRef("acme", "chat_1")


class Store:
    """Stands in for the table."""

    def __init__(self) -> None:
        self.pieces: list[TextPiece] = []
        self.failure: Exception | None = None
        self.is_taken = False
        self.may_write = threading.Event()
        self.may_write.set()

    def append(self, ref: ChatRef, turn_id: str, piece: TextPiece, now: object) -> bool:
        assert (ref, turn_id, now is not None) == (REF, "turn_1", True)
        self.may_write.wait()
        if self.failure is not None:
            raise self.failure
        if not self.is_taken:
            self.pieces.append(piece)
        return not self.is_taken


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    stored = Store()
    monkeypatch.setattr(drafts.chat_drafts, "append", stored.append)
    return stored


class Clock:
    """Time passes only when a test says so."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.is_waiting = asyncio.Event()
        self._go_on = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.is_waiting.set()
        await self._go_on.wait()

    async def pass_time(self) -> None:
        """Until the next wait has begun."""
        await self.is_waiting.wait()
        self.is_waiting.clear()
        self._go_on.set()
        await asyncio.sleep(0)
        self._go_on.clear()


async def test_the_first_text_is_written_at_once_and_the_rest_at_intervals(store: Store) -> None:
    clock = Clock()
    writer = DraftWriter(REF, "turn_1", 0, clock.sleep)
    writer.begin()
    async with writer.writing():
        writer.add("a")
        await clock.is_waiting.wait()
        assert store.pieces == [TextPiece(1, 0, "a")]
        for _ in range(100):
            writer.add("b")
            await asyncio.sleep(0)
        assert len(store.pieces) == 1, "an interval has not passed"
        await clock.pass_time()
        await clock.is_waiting.wait()
        assert store.pieces[1:] == [TextPiece(1, 1, "b" * 100)]
        writer.add("c")
    assert store.pieces[2:] == [TextPiece(1, 101, "c")], "what is left is written at the end"
    assert clock.waits == [WRITE_SECONDS] * 2


async def test_a_later_attempt_has_a_higher_number_and_its_own_offsets(store: Store) -> None:
    writer = DraftWriter(REF, "turn_1", 3)
    async with writer.writing():
        writer.begin()
        writer.add("void")
        writer.begin()
        writer.add("a")
    assert store.pieces == [TextPiece(5, 0, "a")]


async def test_a_long_text_is_several_pieces(store: Store) -> None:
    writer = DraftWriter(REF, "turn_1", 0)
    async with writer.writing():
        writer.begin()
        writer.add("x" * (MAX_PIECE_LENGTH + 1))
    assert [(piece.offset, len(piece.text)) for piece in store.pieces] == [(0, MAX_PIECE_LENGTH), (MAX_PIECE_LENGTH, 1)]


async def test_surrogates_are_stored_as_in_the_answer(store: Store) -> None:
    writer = DraftWriter(REF, "turn_1", 0)
    async with writer.writing():
        writer.begin()
        writer.add("\ud800a")
    assert [piece.text for piece in store.pieces] == ["?a"]


@pytest.mark.parametrize("failure", [None, EndpointConnectionError(endpoint_url="https://x.example")])
async def test_a_draft_that_cannot_be_written_goes_no_further(store: Store, failure: Exception | None) -> None:
    """What follows would not fit; the call goes on."""
    store.failure, store.is_taken = failure, failure is None
    clock = Clock()
    writer = DraftWriter(REF, "turn_1", 0, clock.sleep)
    writer.begin()
    async with writer.writing():
        writer.add("a")
        await clock.is_waiting.wait()
        store.failure, store.is_taken = None, False
        writer.add("b")
        assert store.pieces == []
        writer.begin()
        writer.add("c")
    assert store.pieces == [TextPiece(2, 0, "c")]


async def test_an_aborted_call_writes_no_more(store: Store) -> None:
    clock = Clock()
    writer = DraftWriter(REF, "turn_1", 0, clock.sleep)
    writer.begin()

    async def call() -> None:
        async with writer.writing():
            writer.add("a")
            await clock.is_waiting.wait()
            writer.add("b")
            await asyncio.Event().wait()

    calling = asyncio.ensure_future(call())
    await clock.is_waiting.wait()
    calling.cancel()
    await asyncio.wait([calling])
    assert (calling.cancelled(), store.pieces) == (True, [TextPiece(1, 0, "a")])
