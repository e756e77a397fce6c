"""The models of chats: main calls that stream, calls of operations, with delays and failures; and a record of all."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers.errors import ProviderError
from tests.simulation.faults import Fault
from tests.simulation.scheduler import Invocation

if TYPE_CHECKING:
    from tests.simulation.chats.cloud import ChatCloud

MAIN = "main"
_SLOW_SECONDS = 25.0
"""Longer than a claim lasts that is not renewed."""
_FAILURES = (
    ProbeErrorCode.RATE_LIMITED,
    ProbeErrorCode.PROVIDER_ERROR,
    ProbeErrorCode.NETWORK,
    ProbeErrorCode.CONTENT_FILTERED,
    ProbeErrorCode.INVALID_REQUEST,
)
_WAITS_SECONDS = (1.0, 10.0, 60.0)
_OPERATION = re.compile(r"\[(\w+)\] ")
_LONG_TEXT = 9_000
"""Characters: more than an item stores itself."""


class CallKey(NamedTuple):
    """Identifies what is paid for once: a turn's main call, or the call of one of its operations."""

    exchange_id: str
    answer_variant: int
    name: str
    """Of the operation, or MAIN."""


@dataclass
class ChatCall:
    key: CallKey
    invocation: Invocation
    prompt: tuple[tuple[str, str], ...]
    """Roles and texts."""
    is_over: bool = False
    written: str = ""
    """What it has streamed."""
    answer: str | None = None


class ChatModels:
    def __init__(self, cloud: "ChatCloud", *, has_slow_models: bool) -> None:
        self._cloud = cloud
        self._rng = Random(f"models {cloud.seed}")
        self.calls: dict[CallKey, list[ChatCall]] = defaultdict(list)
        self.call_count = 0
        self._drop_rate = self._rng.choice((0.0, 0.0, 0.2))
        """Of main calls, how often the stream breaks off."""
        self._mean_seconds = _SLOW_SECONDS if has_slow_models else self._rng.choice((0.05, 0.5, 3.0, 12.0))

    async def complete(self, _: object, __: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        """A call of an operation, whose prompt begins with its name."""
        match = _OPERATION.match(request.messages[-1].content)
        assert match is not None, request.messages
        return await self._call(request, match[1], timeout_seconds, lambda _: None)

    async def complete_streaming(
        self, _: object, __: str, request: ModelRequest, timeout_seconds: float, on_text: Callable[[str], None]
    ) -> Reply:
        return await self._call(request, MAIN, timeout_seconds, on_text)

    async def _call(
        self, request: ModelRequest, name: str, timeout_seconds: float, on_text: Callable[[str], None]
    ) -> Reply:
        call = self._start(request, name)
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._answer(call, on_text)
        except TimeoutError:
            raise ProviderError(ProbeErrorCode.TIMEOUT, "no reply in time") from None
        finally:
            call.is_over = True
        assert call.answer is not None
        return Reply(call.answer, "1", Usage(1, 1), "stop")

    def _start(self, request: ModelRequest, name: str) -> ChatCall:
        current, key = self._cloud.scheduler.current, request.simulation_key
        assert current is not None
        prompt = tuple((str(message.role), message.content) for message in request.messages)
        call = ChatCall(CallKey(key.scenario_id, key.repeat, name), current.invocation, prompt)
        self._cloud.scheduler.log(f"model call {call.key}")
        self._cloud.invariants.check_call(call, self.calls[call.key])
        self.calls[call.key].append(call)
        self.call_count += 1
        return call

    async def _answer(self, call: ChatCall, on_text: Callable[[str], None]) -> None:
        await asyncio.sleep(self._seconds())
        self._maybe_fail()
        text = self._text(call)
        pieces = [text[:5], text[5:20], text[20:]]
        for piece in pieces:
            call.written += piece
            on_text(piece)
            await asyncio.sleep(self._seconds() / len(pieces))
            if call.key.name == MAIN and self._cloud.faults.happens(Fault.STREAM_DROPS, self._drop_rate):
                raise ProviderError(ProbeErrorCode.NETWORK, "the stream broke off")
        call.answer = text
        self._cloud.scheduler.log(f"model replied to {call.key}")

    def _seconds(self) -> float:
        return self._rng.expovariate(1 / self._mean_seconds) + 0.01

    def _text(self, call: ChatCall) -> str:
        """Different for each call, and with the mark of its chat."""
        mark = self._cloud.invariants.mark_of(call.key)
        tail = " long" * (_LONG_TEXT // 5) if self._rng.random() < 0.05 else ""
        return f"{mark} answer {self.call_count} of {call.key.name}{tail}"

    def _maybe_fail(self) -> None:
        faults = self._cloud.faults
        if faults.happens(Fault.MODEL_HANGS, faults.model_failure_rate / 20):
            raise TimeoutError
        if faults.happens(Fault.MODEL_FAILS, faults.model_failure_rate):
            raise ProviderError(self._rng.choice(_FAILURES), "a simulated failure")
        if faults.happens(Fault.MODEL_WAITS, faults.retry_later_rate):
            seconds = self._rng.choice(_WAITS_SECONDS)
            raise ProviderError(ProbeErrorCode.RATE_LIMITED, "wait", retry_after_seconds=seconds)
