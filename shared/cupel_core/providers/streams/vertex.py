"""Streams of Vertex AI, in the formats of its models' makers."""

from dataclasses import replace

from cupel_core.providers.streams import anthropic, google
from cupel_core.providers.streams.reply_stream import StreamedReply
from cupel_core.providers.wire_format import WireRequest

_PREDICT, _STREAMING_PREDICT = ":rawPredict", ":streamRawPredict"


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    path, mark, query = request.url.partition("?")
    if not path.endswith(_PREDICT):
        return google.streaming(request, with_usage=with_usage)
    streamed = anthropic.streaming(request, with_usage=with_usage)
    return replace(streamed, url=f"{path.removesuffix(_PREDICT)}{_STREAMING_PREDICT}{mark}{query}")


def reply_of(request: WireRequest) -> StreamedReply:
    return anthropic.AnthropicReply() if _STREAMING_PREDICT in request.url else google.GoogleReply()
