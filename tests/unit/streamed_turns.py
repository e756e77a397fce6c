"""Turns whose workers run beside the test, and whose models write on once a reader has got what they have written."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.chats import turns, worker
from cupel_core.chats.turns import TurnFeed
from cupel_core.domain.conversations.model_request import ModelRequest, Reply, Usage
from cupel_core.providers import sim

_PATIENCE_SECONDS = 30


class StreamedTurns:
    def __init__(self) -> None:
        self.attempts: list[list[str | Exception]] = []
        """What each attempt at a call writes, piece by piece, and the error that ends it."""
        self._read = threading.Condition()
        self._has_read: set[str] = set()
        self.workers: list[threading.Thread] = []

    async def stream(self, name: str, _: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        written = ""
        for step in self.attempts.pop(0):
            if isinstance(step, Exception):
                raise step
            written += step
            on_text(step)
            await asyncio.to_thread(self._wait_for, step)
        return Reply(written, name, Usage(10, 5), "stop")

    def _wait_for(self, text: str) -> None:
        with self._read:
            assert self._read.wait_for(lambda: text in self._has_read, _PATIENCE_SECONDS)

    def note_read(self, feed: TurnFeed) -> TurnFeed:
        if (delta := feed.feed.delta) is not None:
            with self._read:
                self._has_read.add(delta.text)
                self._read.notify_all()
        return feed

    def send_order(self, ref: ChatRef, turn_id: str) -> None:
        order = TurnOrder(workspace=ref.workspace, chat_id=ref.chat_id, turn_id=turn_id)
        self.workers.append(threading.Thread(target=lambda: asyncio.run(worker.work(order, lambda: 290.0))))
        self.workers[-1].start()


@pytest.fixture
def streamed(cloud: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[StreamedTurns]:
    streaming, poll = StreamedTurns(), turns.poll

    def polled(*position: Any) -> TurnFeed:
        return streaming.note_read(poll(*position))

    monkeypatch.setattr(sim, "stream", streaming.stream)
    monkeypatch.setattr(turns, "send_order", streaming.send_order)
    monkeypatch.setattr(turns, "poll", polled)
    yield streaming
    for each in streaming.workers:
        each.join()
