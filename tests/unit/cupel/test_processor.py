"""Controls of a workspace's processing."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cupel.client import Client
from cupel.processor import PAUSE_SECONDS, POLL_SECONDS, RunProcessor

type Json = dict[str, Any]


class Stack:
    """Two providers and one run; with each wait of the client, one conversation ends."""

    def __init__(self, *, pending: int = 0, running: int = 0) -> None:
        self.paused = {"openai": False, "sim": False}
        self.pending, self.running = pending, running
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path, action = request.url.path.removeprefix("/v1"), request.url.path.rpartition("/")[2]
        if path == "/queue":
            return self._items(self._queues(request.url.params.get("provider")))
        if action in ("pause", "resume"):
            provider = json.loads(request.content).get("provider")
            names = [provider] if provider else list(self.paused)
            self.paused |= dict.fromkeys(names, action == "pause")
            return self._items(self._queues(provider))
        if path == "/runs":
            return self._items([{"id": "run_1"}] * (request.url.params["status"] == "RUNNING"))
        assert path == "/runs/run_1/progress"
        return httpx.Response(200, json={"targets": [{"target": "openai/x", "running": self.running}]})

    def _queues(self, provider: str | None) -> list[Json]:
        pending = {"openai": self.pending, "sim": 0}
        return [
            {"provider": name, "paused": paused, "pending": pending[name]}
            for name, paused in self.paused.items()
            if provider in (None, name)
        ]

    @staticmethod
    def _items(items: list[Json]) -> httpx.Response:
        return httpx.Response(200, json={"items": items, "nextCursor": None})

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.running = max(0, self.running - 1)
        self.pending -= not self.paused["openai"] and self.pending > 0

    def now(self) -> float:
        return sum(self.waits)


@pytest.fixture
def processor_of() -> Callable[..., RunProcessor]:
    def processor(stack: Stack, provider: str | None = None) -> RunProcessor:
        client = Client("http://api.test", "cupel_token", source="a test", transport=httpx.MockTransport(stack))
        return RunProcessor(client, provider, stack.sleep, stack.now)

    return processor


type ProcessorOf = Callable[..., RunProcessor]


def test_a_stop_waits_for_the_conversations_in_flight(processor_of: ProcessorOf) -> None:
    stack = Stack(pending=9, running=6)
    assert processor_of(stack).stop()
    assert (stack.waits, stack.running, stack.pending) == ([POLL_SECONDS] * 6, 0, 9)


def test_a_stop_waits_until_no_worker_can_start_a_conversation_any_more(processor_of: ProcessorOf) -> None:
    stack = Stack(pending=9)
    assert processor_of(stack).stop()
    assert sum(stack.waits) >= PAUSE_SECONDS


def test_a_stop_ends_with_its_timeout(processor_of: ProcessorOf) -> None:
    assert not processor_of(Stack(pending=5, running=20)).stop(timeout_seconds=3)


def test_a_stopped_processor_runs_after_its_start(processor_of: ProcessorOf) -> None:
    processor = processor_of(Stack())
    states = [processor.is_running()]
    processor.stop()
    states.append(processor.is_running())
    processor.start()
    assert [*states, processor.is_running()] == [True, False, True]


def test_one_provider_is_stopped_alone(processor_of: ProcessorOf) -> None:
    stack = Stack()
    processor_of(stack, "openai").stop()
    assert stack.paused == {"openai": True, "sim": False}
    assert processor_of(stack).is_running()


@pytest.mark.parametrize(("provider", "count"), [(None, 3), ("openai", 3), ("sim", 0)])
def test_conversations_in_flight_are_counted(processor_of: ProcessorOf, provider: str | None, count: int) -> None:
    assert processor_of(Stack(pending=9, running=3), provider).active_count() == count


def test_idle_is_awaited(processor_of: ProcessorOf) -> None:
    stack = Stack(pending=3, running=1)
    assert processor_of(stack).wait_until_idle()
    assert (stack.pending, len(stack.waits)) == (0, 3)


def test_waiting_for_idle_ends_with_its_timeout(processor_of: ProcessorOf) -> None:
    assert not processor_of(Stack(pending=30)).wait_until_idle(timeout_seconds=5)


def test_what_waits_in_a_paused_queue_is_not_waited_for(processor_of: ProcessorOf) -> None:
    stack = Stack(pending=3, running=1)
    stack.paused["openai"] = True
    assert not processor_of(stack).is_idle()
    assert processor_of(stack).wait_until_idle()
    assert stack.pending == 3
