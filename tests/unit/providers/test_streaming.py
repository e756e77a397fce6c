"""Attempts whose text arrives in pieces, over real connections; and what is done where a server does not stream."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import http, safe_http, streaming
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.providers.streaming import StreamOption, StreamSupport, complete_streaming
from cupel_core.providers.streams import formats
from cupel_core.providers.vertex import request_for
from tests.unit.providers.agents import Handler, ReceivedRequest, json, serving
from tests.unit.providers.streamed import FORMATS, Answer, anthropic_events, google_events, openai_events, sse

HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
ANSWER = Answer(["Hel", "lo", "!"])
MODELS = {
    "openai": ("custom", "custom/m"),
    "openai-responses": ("openai", "openai/responses:m"),
    "anthropic": ("anthropic", "anthropic/claude-haiku-4-5"),
    "google": ("google", "google/gemini-2.5-flash"),
}


@pytest.fixture(autouse=True)
async def _fresh(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(streaming, "SUPPORT", StreamSupport())
    yield
    await safe_http.close()
    await http.close()


def streamed(content: bytes) -> Handler:
    return lambda _: web.Response(body=content, content_type="text/event-stream")


async def ask(
    url: str, texts: list[str], name: str = "openai", on_text: Callable[[str], None] | None = None, seconds: float = 5
) -> Reply:
    provider, model = MODELS[name]
    account = Account(provider, f"{url}/v1", "sk-secret", allow_private=True)
    return await complete_streaming(account, model, HELLO, seconds, on_text or texts.append)


async def failure(handler: Handler, seconds: float = 5) -> ProviderError:
    async with serving(handler) as server:
        with pytest.raises(ProviderError) as caught:
            await ask(server.url, [], seconds=seconds)
    return caught.value


@pytest.mark.parametrize("name", MODELS)
async def test_the_text_arrives_in_pieces(name: str) -> None:
    wire, texts = FORMATS[name], list[str]()
    async with serving(streamed(sse(wire.events(ANSWER)))) as server:
        reply = await ask(server.url, texts, name)
    assert (reply, texts) == (wire.parse(wire.body(ANSWER)), ANSWER.texts)


async def test_each_piece_is_passed_on_before_the_next_one_is_sent() -> None:
    arrived: list[asyncio.Event] = [asyncio.Event() for _ in ANSWER.texts]
    texts: list[str] = []

    def on_text(text: str) -> None:
        arrived[len(texts)].set()
        texts.append(text)

    async def in_steps(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for number, text in enumerate(ANSWER.texts):
            await response.write(sse([{"choices": [{"delta": {"content": text}}]}]))
            await arrived[number].wait()
        await response.write(sse([{"choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]"]))
        await asyncio.Event().wait()  # The connection stays open.
        return response

    runner = web.ServerRunner(web.Server(in_steps, handler_cancellation=True), shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        reply = await ask(f"http://127.0.0.1:{runner.addresses[0][1]}", [], on_text=on_text)
    finally:
        await runner.cleanup()
    assert (reply.text, texts) == (ANSWER.text, ANSWER.texts)


async def test_what_is_asked_of_each_provider() -> None:
    asked: dict[str, ReceivedRequest] = {}
    for name in MODELS:
        async with serving(streamed(sse(FORMATS[name].events(ANSWER)))) as server:
            await ask(server.url, [], name)
            asked[name] = server.requests[0]
    assert asked["openai"].body["stream_options"] == {"include_usage": True}
    assert [asked[name].body.get("stream") for name in MODELS] == [True, True, True, None]
    assert asked["google"].path == "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse"


async def test_a_server_that_answers_as_a_whole_is_not_asked_again() -> None:
    texts: list[str] = []
    async with serving(lambda _: json(FORMATS["openai"].body(ANSWER))) as server:
        reply = await ask(server.url, texts)
    assert (reply.text, texts, len(server.requests)) == (ANSWER.text, [ANSWER.text], 1)


async def test_a_model_that_refuses_to_stream_is_called_without() -> None:
    def refusing(request: ReceivedRequest) -> web.Response:
        if "stream" in request.body:
            message = "Your organization must be verified to stream this model."
            return json({"error": {"message": message, "param": "stream", "code": "unsupported_value"}}, 400)
        return json(FORMATS["openai"].body(ANSWER))

    texts: list[str] = []
    async with serving(refusing) as server:
        with pytest.raises(ParameterRejected):
            await ask(server.url, texts)
        replies = [await ask(server.url, texts) for _ in range(2)]
    assert ([reply.text for reply in replies], texts) == ([ANSWER.text] * 2, [ANSWER.text] * 2)
    assert ["stream" in request.body for request in server.requests] == [True, False, False]


async def test_a_server_that_knows_no_stream_options_is_called_without() -> None:
    def refusing(request: ReceivedRequest) -> web.Response:
        if "stream_options" in request.body:
            return json({"message": "stream_options: Extra inputs are not permitted"}, 422)
        return web.Response(body=sse(openai_events(ANSWER)), content_type="text/event-stream")

    async with serving(refusing) as server:
        with pytest.raises(ParameterRejected):
            await ask(server.url, [])
        assert (await ask(server.url, [])).text == ANSWER.text
    assert [request.body["stream"] for request in server.requests] == [True, True]


def test_other_refusals_say_nothing_about_streaming() -> None:
    support, account = StreamSupport(), Account("custom", "https://x.example")
    for code, message in (
        (ProbeErrorCode.INVALID_REQUEST, "HTTP 400: temperature is not supported"),
        (ProbeErrorCode.PROVIDER_ERROR, "HTTP 500: stream is not supported"),
        (ProbeErrorCode.AUTH, "HTTP 401: stream is not permitted"),
    ):
        error = ProviderError(code, message)
        assert support.learn(account, "custom/m", error) is error
    assert support.options(account, "custom/m") == frozenset(StreamOption)


def test_a_role_that_may_not_stream_is_used_without() -> None:
    support, account = StreamSupport(), Account("bedrock", "")
    message = "HTTP 403 AccessDeniedException: not authorized to perform: bedrock:InvokeModelWithResponseStream"
    assert isinstance(
        support.learn(account, "bedrock/m", ProviderError(ProbeErrorCode.AUTH, message)), ParameterRejected
    )
    assert StreamOption.STREAM not in support.options(account, "bedrock/m")


def test_what_is_remembered_is_bounded() -> None:
    support, account = StreamSupport(max_models=2), Account("custom", "https://x.example")
    for name in "abc":
        support.learn(account, name, ProviderError(ProbeErrorCode.INVALID_REQUEST, "HTTP 400: stream is not supported"))
    assert [StreamOption.STREAM in support.options(account, name) for name in "abc"] == [True, False, False]


async def test_a_dropped_connection_is_a_network_error_that_may_be_billed() -> None:
    async def dropping(_: ReceivedRequest) -> web.StreamResponse:
        return _Dropped(headers={"content-type": "text/event-stream"})

    error = await failure(dropping)
    assert (error.code, error.may_be_billed, error.retryable) == (ProbeErrorCode.NETWORK, True, True)


class _Dropped(web.StreamResponse):
    """Sends a part of the stream, and closes the connection."""

    async def write_eof(self, data: bytes = b"") -> None:
        del data
        await self.write(sse([{"choices": [{"delta": {"content": "Hel"}}]}]))
        request = self._req
        assert request is not None
        assert request.transport is not None
        request.transport.close()


async def test_a_stream_that_stops_is_a_timeout() -> None:
    async def stopping(_: ReceivedRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    assert (await failure(stopping, seconds=0.05)).code is ProbeErrorCode.TIMEOUT


async def test_an_error_response_is_what_it_is_without_streaming() -> None:
    error = await failure(lambda _: json({"error": {"message": "the key sk-secret is wrong"}}, 401))
    assert (error.code, error.message) == (ProbeErrorCode.AUTH, "HTTP 401: the key [key] is wrong")


async def test_simulated_models_stream_their_words() -> None:
    texts: list[str] = []
    reply = await complete_streaming(Account("sim", ""), "sim/steady", HELLO, 5, texts.append)
    assert len(texts) > 1
    assert "".join(texts) == reply.text


@pytest.mark.parametrize(
    ("model", "method", "events"),
    [
        ("claude-haiku-4-5", "anthropic/models/claude-haiku-4-5:streamRawPredict", anthropic_events),
        ("gemini-2.5-flash", "google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", google_events),
    ],
)
def test_vertex_streams_in_the_formats_of_its_makers(model: str, method: str, events: Callable[..., object]) -> None:
    account = Account("vertex", "https://aiplatform.googleapis.com/v1", "AIza")
    request = formats._vertex_streaming(request_for(account, model, HELLO), with_usage=True)
    assert request.url.endswith(f"publishers/{method}")
    reply = formats._vertex_reply(request)
    assert "".join(reply.add(event) for event in events(ANSWER)) == ANSWER.text  # type: ignore[attr-defined]
