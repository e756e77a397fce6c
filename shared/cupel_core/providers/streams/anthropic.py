"""Streamed messages of Anthropic: blocks that begin, grow and end."""

from dataclasses import field, replace

import orjson

from cupel_core.deferred import dataclass
from cupel_core.providers.errors import ProviderError, error_in_reply
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import WireModel, WireRequest

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
}
"""Of errors within a stream, whose status is 200; others, such as `overloaded_error`, are the provider's."""


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # Usage is always part of the stream.
    return replace(request, body={**request.body, "stream": True})


class _Block(WireModel):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, object] | None = None


class _BlockDelta(WireModel):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Message(WireModel):
    model: str | None = None
    usage: dict[str, object] | None = None


class _MessageEvent(WireModel):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _BlockDelta = _BlockDelta()
    usage: dict[str, object] | None = None
    error: object = None


@dataclass
class _GrowingBlock:
    block: _Block
    texts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def body(self) -> dict[str, object]:
        written = "".join(self.arguments)
        arguments = orjson.loads(written) if written.strip() else self.block.input
        return {**self.block.model_dump(), "text": "".join(self.texts), "input": arguments}


class AnthropicReply:
    def __init__(self) -> None:
        self._blocks: dict[int, _GrowingBlock] = {}
        self._model: str | None = None
        self._usage: dict[str, object] = {}
        self._stop_reason: str | None = None
        self.is_over = False

    @property
    def has_finished(self) -> bool:
        return self._stop_reason is not None

    def add(self, event: object) -> str:
        read = _MessageEvent.model_validate(event)
        match read.type:
            case "error":
                raise _failure(read.error)
            case "message_start" if read.message is not None:
                self._model = read.message.model
                self._note_usage(read.message.usage)
            case "content_block_start" if read.content_block is not None:
                block = self._blocks[read.index] = _GrowingBlock(read.content_block)
                check_parts(len(self._blocks))
                block.texts.append(block.block.text)
                return block.block.text if block.block.type == "text" else ""
            case "content_block_delta":
                return self._add_delta(read.index, read.delta)
            case "message_delta":
                self._stop_reason = read.delta.stop_reason or self._stop_reason
                self._note_usage(read.usage)
            case "message_stop":
                self.is_over = True
        return ""

    def _add_delta(self, index: int, delta: _BlockDelta) -> str:
        block = self._blocks.setdefault(index, _GrowingBlock(_Block(type="text")))
        check_parts(len(self._blocks))
        if delta.type == "input_json_delta":
            block.arguments.append(delta.partial_json)
        if delta.type != "text_delta":
            return ""
        block.texts.append(delta.text)
        return delta.text

    def _note_usage(self, usage: dict[str, object] | None) -> None:
        """The counts at the end are those of the whole message; what is not counted again stays."""
        self._usage |= {name: count for name, count in (usage or {}).items() if count is not None}

    def body(self) -> object:
        return {
            "type": "message",
            "content": [block.body() for _, block in sorted(self._blocks.items())],
            "model": self._model,
            "stop_reason": self._stop_reason,
            "usage": self._usage,
        }


def _failure(error: object) -> ProviderError:
    kind = error.get("type") if isinstance(error, dict) else None
    status = _STATUSES.get(kind, 500) if isinstance(kind, str) else 500
    return error_in_reply({**error, "code": status} if isinstance(error, dict) else error)
