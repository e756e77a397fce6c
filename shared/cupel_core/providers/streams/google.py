"""Streamed generateContent: each event is a response with some more parts; its usage counts all so far."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.providers.errors import reply_error
from cupel_core.providers.reply_fields import label, mapping, mappings
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import WireRequest

_METHOD, _STREAMING_METHOD = ":generateContent", ":streamGenerateContent"


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # Each event has it.
    path, _, query = request.url.partition("?")
    path = path.removesuffix(_METHOD) + _STREAMING_METHOD
    return replace(request, url=f"{path}?{query}&alt=sse" if query else f"{path}?alt=sse")


@dataclass
class _TextRun:
    """Neighbouring pieces of text, which would be one part."""

    is_thought: bool
    pieces: list[str] = field(default_factory=list)


class GoogleReply:
    is_over = False
    """The end of the response ends it."""

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
