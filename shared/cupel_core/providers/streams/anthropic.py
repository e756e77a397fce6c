"""Streamed messages of Anthropic: blocks that begin, grow and end."""

from collections.abc import Mapping
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.providers.errors import reply_error
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import WireRequest


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
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
        """The counts at the end are those of the whole message; what is not counted again stays."""
        self._usage |= {name: count for name, count in mapping(usage).items() if count is not None}

    def body(self) -> object:
        return {
            "type": "message",
            "content": [block.body() for _, block in sorted(self._blocks.items())],
            "model": self._model,
            "stop_reason": self._stop_reason,
            "usage": self._usage,
        }
