"""The wire formats that stream over HTTP, by their name in the provider registry.

The streams of Anthropic are messages of blocks that begin, grow and end. In those of Google, each event is a response
with some more parts, and its usage counts all so far. Vertex AI has models of both makers, in their formats. The
streams of OpenAI's two APIs are in `openai`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import NamedTuple, Protocol

from cupel_core.base.deferred import dataclass
from cupel_core.providers.errors import reply_error
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.streams import openai
from cupel_core.providers.streams.reply_stream import StreamedReply, TextReader, check_parts
from cupel_core.providers.wire_format import HttpWireFormat, WireRequest
from cupel_core.providers.wire_formats import HTTP_WIRE_FORMATS


def _anthropic_streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # Usage is always part of the stream.
    return replace(request, body={**request.body, "stream": True})


@dataclass
class _GrowingBlock:
    block: Mapping[str, object]
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def body(self) -> dict[str, object]:
        """Return the block with a tool's input as text, which is parsed where the answer is read."""
        written = "".join(self.arguments)
        arguments = written if written.strip() else self.block.get("input")
        return {**self.block, "text": "".join(self.texts), "thinking": "".join(self.thoughts), "input": arguments}


class AnthropicReply:
    def __init__(self) -> None:
        self._blocks: dict[int, _GrowingBlock] = {}
        self._model: object = None
        self._usage: dict[str, object] = {}
        self._stop_reason: str | None = None
        self.is_over = False

    @property
    def has_finished(self) -> bool:
        return self._stop_reason is not None

    def add(self, event: object) -> str:
        if error := reply_error(event):
            raise error
        read = mapping(event)
        number = read.get("index")
        index = number if isinstance(number, int) else 0
        match read.get("type"):
            case "message_start":
                message = mapping(read.get("message"))
                self._model = message.get("model")
                self._note_usage(message.get("usage"))
            case "content_block_start":
                block = self._blocks[index] = _GrowingBlock(mapping(read.get("content_block")))
                check_parts(len(self._blocks))
                text = block.block.get("text")
                block.texts.append(text if isinstance(text, str) else "")
                return block.texts[0] if block.block.get("type") == "text" else ""
            case "content_block_delta":
                return self._add_delta(index, mapping(read.get("delta")))
            case "message_delta":
                self._stop_reason = label(mapping(read.get("delta")).get("stop_reason")) or self._stop_reason
                self._note_usage(read.get("usage"))
            case "message_stop":
                self.is_over = True
        return ""

    def _add_delta(self, index: int, delta: Mapping[str, object]) -> str:
        block = self._blocks.setdefault(index, _GrowingBlock({"type": "text"}))
        check_parts(len(self._blocks))
        if delta.get("type") == "input_json_delta":
            block.arguments.append(arguments_of(delta.get("partial_json") or ""))
        if delta.get("type") == "thinking_delta":
            block.thoughts.append(content_of(delta.get("thinking")).text or "")
        if delta.get("type") != "text_delta":
            return ""
        text = content_of(delta.get("text")).text or ""
        block.texts.append(text)
        return text

    def _note_usage(self, usage: object) -> None:
        """Record the counts. Those at the end are of the whole message, and earlier ones stay if they are not
        repeated."""
        self._usage |= {name: count for name, count in mapping(usage).items() if count is not None}

    def body(self) -> object:
        return {
            "type": "message",
            "content": [block.body() for _, block in sorted(self._blocks.items())],
            "model": self._model,
            "stop_reason": self._stop_reason,
            "usage": self._usage,
        }


_METHOD, _STREAMING_METHOD = ":generateContent", ":streamGenerateContent"


def _google_streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # Each event has it.
    path, _, query = request.url.partition("?")
    path = path.removesuffix(_METHOD) + _STREAMING_METHOD
    return replace(request, url=f"{path}?{query}&alt=sse" if query else f"{path}?alt=sse")


@dataclass
class _TextRun:
    """Adjacent pieces of text, which would be one part without streaming."""

    is_thought: bool
    pieces: list[str] = field(default_factory=list)


class GoogleReply:
    is_over = False
    """The reply ends with the end of the response."""

    def __init__(self) -> None:
        self._parts: list[_TextRun | Mapping[str, object]] = []
        self._finish_reason: str | None = None
        self._usage: object = None
        self._model: object = None
        self._feedback: Mapping[str, object] = {}

    @property
    def has_finished(self) -> bool:
        return self._finish_reason is not None or bool(self._feedback.get("blockReason"))

    def add(self, event: object) -> str:
        if error := reply_error(event):
            raise error
        response = mapping(event)
        self._usage = response.get("usageMetadata") or self._usage
        self._model = response.get("modelVersion") or self._model
        self._feedback = mapping(response.get("promptFeedback")) or self._feedback
        candidate = next(iter(mappings(response.get("candidates"))), None)
        if candidate is None:
            return ""
        self._finish_reason = label(candidate.get("finishReason")) or self._finish_reason
        return "".join(map(self._add_part, mappings(mapping(candidate.get("content")).get("parts"))))

    def _add_part(self, part: Mapping[str, object]) -> str:
        if part.get("functionCall") is not None:
            self._parts.append(part)
            check_parts(len(self._parts))
            return ""
        text, is_thought = part.get("text"), bool(part.get("thought"))
        if not isinstance(text, str) or not text:
            return ""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _TextRun) or last.is_thought is not is_thought:
            last = _TextRun(is_thought)
            self._parts.append(last)
            check_parts(len(self._parts))
        last.pieces.append(text)
        return "" if is_thought else text

    def body(self) -> object:
        candidate = {"content": {"parts": list(self._written_parts())}, "finishReason": self._finish_reason}
        return {
            "candidates": [candidate] if self._finish_reason is not None else [],
            "promptFeedback": self._feedback,
            "usageMetadata": self._usage,
            "modelVersion": self._model,
        }

    def _written_parts(self) -> Iterator[Mapping[str, object]]:
        for part in self._parts:
            yield {"text": "".join(part.pieces), "thought": part.is_thought} if isinstance(part, _TextRun) else part


_PREDICT, _STREAMING_PREDICT = ":rawPredict", ":streamRawPredict"


def _vertex_streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    path, mark, query = request.url.partition("?")
    if not path.endswith(_PREDICT):
        return _google_streaming(request, with_usage=with_usage)
    streamed = _anthropic_streaming(request, with_usage=with_usage)
    return replace(streamed, url=f"{path.removesuffix(_PREDICT)}{_STREAMING_PREDICT}{mark}{query}")


def _vertex_reply(request: WireRequest) -> StreamedReply:
    return AnthropicReply() if _STREAMING_PREDICT in request.url else GoogleReply()


class Streaming(Protocol):
    def __call__(self, request: WireRequest, *, with_usage: bool) -> WireRequest: ...


class StreamFormat(NamedTuple):
    streaming: Streaming
    reply_of: Callable[[WireRequest], StreamedReply]


STREAM_FORMATS: dict[str, StreamFormat] = {
    "openai": StreamFormat(openai.streaming, lambda _: openai.OpenAiReply()),
    "openai-responses": StreamFormat(openai.responses_streaming, lambda _: openai.ResponsesReply()),
    "anthropic": StreamFormat(_anthropic_streaming, lambda _: AnthropicReply()),
    "google": StreamFormat(_google_streaming, lambda _: GoogleReply()),
    "vertex": StreamFormat(_vertex_streaming, _vertex_reply),
}


def body_of_events(wire_format: HttpWireFormat, request: WireRequest, events: Iterable[object]) -> object:
    """Join the events of a stream that was not requested into one body. Raise `ProviderError`."""
    name = next(name for name, known in HTTP_WIRE_FORMATS.items() if known is wire_format)
    reader = TextReader(STREAM_FORMATS[name].reply_of(request), lambda _: None)
    for event in events:
        reader.take(event)
    return reader.body()
