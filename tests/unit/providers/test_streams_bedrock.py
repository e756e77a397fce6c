"""Streams of Bedrock, decoded by botocore from frames that arrive in any pieces."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.eventstream import EventStream
from botocore.parsers import create_parser
from hypothesis import given
from hypothesis import strategies as st
from urllib3.exceptions import ProtocolError

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import bedrock
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.streams import bedrock as streams
from tests.unit.providers.streamed import Answer, answers, bedrock_body, bedrock_frames, chunks, frame

NOW = datetime(2026, 1, 15, tzinfo=UTC)
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
SHORT = Answer(["Gr", "üß", "e"], ['{"a"', ":1}"])


@cache
def _shape() -> Any:
    client: Any = boto3.client("bedrock-runtime", region_name="us-east-1")
    return client.meta.service_model.operation_model("ConverseStream").output_shape.members["stream"]


class Streaming:
    """A client whose streams are made of these bytes."""

    def __init__(self, arriving: Iterator[bytes], close: Callable[[], None] = lambda: None) -> None:
        parser: Any = create_parser("rest-json")
        raw = SimpleNamespace(stream=lambda: arriving, close=close)
        self._stream: Any = EventStream(raw, _shape(), parser._event_stream_parser, "ConverseStream")

    def converse_stream(self, **_: object) -> dict[str, Any]:
        return {"stream": self._stream}


async def ask(arriving: Iterator[bytes]) -> tuple[list[str], Reply]:
    texts: list[str] = []
    client: Any = Streaming(arriving)
    reply = await streams.complete(Account("bedrock", ""), "m", HELLO, 5, NOW, texts.append, lambda *_: client)
    return texts, reply


async def failure(arriving: Iterator[bytes]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(arriving)
    return caught.value


@given(answer=answers(), cuts=st.lists(st.integers(0, 2_000), max_size=20))
def test_a_stream_is_the_reply_that_is_not_streamed(answer: Answer, cuts: list[int]) -> None:
    texts, reply = asyncio.run(ask(iter(chunks(bedrock_frames(answer), cuts))))
    assert reply == bedrock.parse(bedrock_body(answer))
    assert texts == [text for text in answer.texts if text]


async def test_it_may_be_split_anywhere() -> None:
    content, expected = bedrock_frames(SHORT), (SHORT.texts, bedrock.parse(bedrock_body(SHORT)))
    assert await ask(bytes([byte]) for byte in content) == expected


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("throttlingException", ProbeErrorCode.RATE_LIMITED),
        ("validationException", ProbeErrorCode.INVALID_REQUEST),
        ("modelStreamErrorException", ProbeErrorCode.PROVIDER_ERROR),
        ("serviceUnavailableException", ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_an_error_within_a_stream(name: str, code: ProbeErrorCode) -> None:
    begun = frame("contentBlockDelta", {"delta": {"text": "Hi"}, "contentBlockIndex": 0})
    error = await failure(iter([begun, frame(name, {"message": "busy"}, "exception")]))
    assert (error.code, error.refused, error.message) == (code, False, f"{name}: busy")


async def test_a_broken_frame_is_a_malformed_response() -> None:
    content = bytearray(bedrock_frames(SHORT))
    content[9] ^= 1
    error = await failure(iter([bytes(content)]))
    assert (error.code, error.message) == (ProbeErrorCode.PROVIDER_ERROR, "malformed stream: ChecksumMismatch")


async def test_a_stream_that_ends_early_is_no_answer() -> None:
    error = await failure(iter([frame("contentBlockDelta", {"delta": {"text": "Hi"}, "contentBlockIndex": 0})]))
    assert (error.code, error.may_be_billed) == (ProbeErrorCode.NETWORK, True)


async def test_a_dropped_connection_is_a_network_error() -> None:
    def dropped() -> Iterator[bytes]:
        yield bedrock_frames(SHORT)[:50]
        raise ProtocolError("Connection broken")

    error = await failure(dropped())
    assert (error.code, error.may_be_billed) == (ProbeErrorCode.NETWORK, True)


async def test_an_abandoned_stream_is_left_at_its_next_event() -> None:
    told, left, may_go_on = asyncio.Event(), threading.Event(), threading.Event()

    def endless() -> Iterator[bytes]:
        while True:
            yield frame("contentBlockDelta", {"delta": {"text": "Hi"}, "contentBlockIndex": 0})
            may_go_on.wait()

    client: Any = Streaming(endless(), left.set)
    account, tell = Account("bedrock", ""), lambda _: told.set()
    call = asyncio.ensure_future(streams.complete(account, "m", HELLO, 5, NOW, tell, lambda *_: client))
    await told.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    may_go_on.set()
    assert await asyncio.to_thread(left.wait, 5)
