"""Streams of providers that mean harm or are broken: each ends as an answer or an error of that call, in time."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import http, safe_http, streaming
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.streaming import StreamSupport, complete_streaming
from tests.in_one_test import in_one_test
from tests.unit.providers.streamed import FORMATS, Answer, sse

HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
WHOLE = sse(FORMATS["openai"].events(Answer(["Hel", "lo", "!"])))
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'
LIMIT_SECONDS = 1.0

type Send = Callable[[asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
async def _fresh(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(streaming, "SUPPORT", StreamSupport())
    yield
    await safe_http.close()
    await http.close()


async def ask(send: Send, texts: list[str], seconds: float = 10.0) -> Reply:
    """Over TCP, so that nothing between `send` and the client is well behaved."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            await send(writer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        account = Account("custom", f"http://127.0.0.1:{port}/v1", "sk-secret", allow_private=True)
        try:
            return await complete_streaming(account, "custom/m", HELLO, seconds, texts.append)
        finally:
            await safe_http.close()
            server.close_clients()


def sending(*pieces: bytes) -> Send:
    async def send(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return send


def endless(piece: bytes) -> Send:
    async def send(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(piece)
            await writer.drain()

    return send


async def test_a_stream_of_single_bytes_is_read() -> None:
    texts: list[str] = []
    reply = await ask(sending(*(WHOLE[n : n + 1] for n in range(len(WHOLE)))), texts)
    assert (reply.text, "".join(texts)) == ("Hello!", "Hello!")


ENDLESS = {
    "answers": PIECE * 1_000,
    "empty pieces": b'data: {"choices": [{"index": 0, "delta": {}}]}\n\n' * 1_000,
    "comments": b": keep-alive\n\n" * 5_000,
    "line feeds": b"\n" * 65_536,
    "carriage returns": b"\r" * 65_536,
    "one line": b"data: " + b"x" * 65_536,
    "a line that is no field": b"x" * 65_536,
    "fields without end": b"data: x\n" * 8_000,
    "zeros": b"\0" * 65_536,
}


@pytest.mark.parametrize("piece", ENDLESS.values(), ids=ENDLESS)
async def test_a_stream_without_end_is_ended(piece: bytes) -> None:
    texts: list[str] = []
    started = time.process_time()
    with pytest.raises(ProviderError) as caught:
        await ask(endless(piece), texts, seconds=2)
    assert caught.value.code in (ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.TIMEOUT)
    assert sum(map(len, texts)) <= 1_000_000
    assert time.process_time() - started < 6


@pytest.mark.parametrize(
    "beginning", [b"", WHOLE[:40], PIECE, b": waiting\n\n"], ids=["nothing", "half", "one", "note"]
)
async def test_a_stream_that_never_closes_is_a_timeout(beginning: bytes) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await writer.drain()
        await asyncio.Event().wait()

    with pytest.raises(ProviderError) as caught:
        await ask(send, [], seconds=LIMIT_SECONDS)
    assert caught.value.code is ProbeErrorCode.TIMEOUT


async def test_an_answer_is_complete_although_its_stream_never_closes() -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(WHOLE)
        await writer.drain()
        await asyncio.Event().wait()

    assert (await ask(send, [], seconds=5)).text == "Hello!"


MALFORMED = {
    "not UTF-8 in a text": b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n',
    "half a character": b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n',
    "deep nesting": b'data: {"choices": ' + b"[" * 100_000 + b"\n\n",
    "a huge number": b'data: {"choices": [{"index": ' + b"9" * 100_000 + b"}]}\n\n",
    "another type": b'data: "x"\n\n',
    "null": b"data: null\n\n",
    "a list": b"data: [1]\n\n",
    "wrong types": b'data: {"choices": {"delta": 1}}\n\n',
    "a call without a name": b'data: {"choices": [{"delta": {"tool_calls": [{"index": -1}]}}]}\n\n',
    "a call of a far index": b'data: {"choices": [{"delta": {"tool_calls": [{"index": 999999999}]}}]}\n\n',
    "a choice of a far index": b'data: {"choices": [{"index": 999999999, "delta": {"content": "x"}}]}\n\n',
    "counts that are too large": b'data: {"choices": [], "usage": {"prompt_tokens": 1e300}}\n\n',
    "a byte order mark": b"\xef\xbb\xbf",
    "an HTML page": b"<html><body>Sign in</body></html>\n\n",
}


@in_one_test("piece", MALFORMED.values(), ids=MALFORMED)
@in_one_test("end", [b"", WHOLE], ids=["alone", "before an answer"])
async def test_a_malformed_piece_is_an_answer_without_it_or_an_error(piece: bytes, end: bytes) -> None:
    texts: list[str] = []
    try:
        reply = await ask(sending(piece, end), texts)
    except ProviderError as error:
        error.message.encode()
        return
    reply.text.encode()
    orjson.dumps([reply.text, reply.model_version, reply.finish_reason, reply.usage.total])
    assert reply.usage.total <= 2_000_000_000


async def test_an_answer_that_is_sent_twice_is_read_once() -> None:
    """Nothing is read after the end marker of the stream."""
    texts: list[str] = []
    reply = await ask(sending(WHOLE, WHOLE), texts)
    assert (reply.text, "".join(texts)) == ("Hello!", "Hello!")
