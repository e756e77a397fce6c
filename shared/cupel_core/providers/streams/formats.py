"""The wire formats that stream over HTTP, by their name in the provider registry."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, Protocol

from cupel_core.providers.streams import anthropic, google, openai
from cupel_core.providers.streams.reply_stream import StreamedReply, TextReader
from cupel_core.providers.wire_format import HttpWireFormat, WireRequest
from cupel_core.providers.wire_formats import HTTP_WIRE_FORMATS

_PREDICT, _STREAMING_PREDICT = ":rawPredict", ":streamRawPredict"


def _vertex_streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    path, mark, query = request.url.partition("?")
    if not path.endswith(_PREDICT):
        return google.streaming(request, with_usage=with_usage)
    streamed = anthropic.streaming(request, with_usage=with_usage)
    return replace(streamed, url=f"{path.removesuffix(_PREDICT)}{_STREAMING_PREDICT}{mark}{query}")


def _vertex_reply(request: WireRequest) -> StreamedReply:
    return anthropic.AnthropicReply() if _STREAMING_PREDICT in request.url else google.GoogleReply()


class Streaming(Protocol):
    def __call__(self, request: WireRequest, *, with_usage: bool) -> WireRequest: ...


class StreamFormat(NamedTuple):
    streaming: Streaming
    """Makes a request one for a stream."""
    reply_of: Callable[[WireRequest], StreamedReply]
    """Reads the reply to such a request."""


STREAM_FORMATS: dict[str, StreamFormat] = {
    "openai": StreamFormat(openai.streaming, lambda _: openai.OpenAiReply()),
    "openai-responses": StreamFormat(openai.responses_streaming, lambda _: openai.ResponsesReply()),
    "anthropic": StreamFormat(anthropic.streaming, lambda _: anthropic.AnthropicReply()),
    "google": StreamFormat(google.streaming, lambda _: google.GoogleReply()),
    "vertex": StreamFormat(_vertex_streaming, _vertex_reply),
}


def body_of_events(wire_format: HttpWireFormat, request: WireRequest, events: Iterable[object]) -> object:
    """Join the events of a stream that nobody has asked for into one body. Raises `ProviderError`."""
    name = next(name for name, known in HTTP_WIRE_FORMATS.items() if known is wire_format)
    reader = TextReader(STREAM_FORMATS[name].reply_of(request), lambda _: None)
    for event in events:
        reader.take(event)
    return reader.body()
