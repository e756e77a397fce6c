"""Streamed generateContent: each event is a response with some more parts; its usage counts all so far."""

from collections.abc import Iterator
from dataclasses import field, replace

from cupel_core.deferred import dataclass
from cupel_core.providers.errors import error_in_reply
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import CamelModel, WireRequest

_METHOD, _STREAMING_METHOD = ":generateContent", ":streamGenerateContent"


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # Each event has it.
    path, _, query = request.url.partition("?")
    path = path.removesuffix(_METHOD) + _STREAMING_METHOD
    return replace(request, url=f"{path}?{query}&alt=sse" if query else f"{path}?alt=sse")


class _Content(CamelModel):
    parts: tuple[dict[str, object], ...] = ()


class _StreamedCandidate(CamelModel):
    content: _Content = _Content()
    finish_reason: str | None = None


class _StreamedResponse(CamelModel):
    error: object = None
    candidates: tuple[_StreamedCandidate, ...] = ()
    prompt_feedback: dict[str, object] | None = None
    usage_metadata: dict[str, object] | None = None
    model_version: str | None = None


@dataclass
class _TextRun:
    """Neighbouring pieces of text, which would be one part."""

    is_thought: bool
    pieces: list[str] = field(default_factory=list)


class GoogleReply:
    is_over = False
    """The end of the response ends it."""

    def __init__(self) -> None:
        self._parts: list[_TextRun | dict[str, object]] = []
        self._finish_reason: str | None = None
        self._usage: dict[str, object] = {}
        self._model: str | None = None
        self._feedback: dict[str, object] = {}

    @property
    def has_finished(self) -> bool:
        return self._finish_reason is not None or bool(self._feedback.get("blockReason"))

    def add(self, event: object) -> str:
        response = _StreamedResponse.model_validate(event)
        if response.error:
            raise error_in_reply(response.error)
        self._usage = response.usage_metadata or self._usage
        self._model = response.model_version or self._model
        self._feedback = response.prompt_feedback or self._feedback
        if not response.candidates:
            return ""
        candidate = response.candidates[0]
        self._finish_reason = candidate.finish_reason or self._finish_reason
        return "".join(map(self._add_part, candidate.content.parts))

    def _add_part(self, part: dict[str, object]) -> str:
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

    def _written_parts(self) -> Iterator[dict[str, object]]:
        for part in self._parts:
            yield {"text": "".join(part.pieces), "thought": part.is_thought} if isinstance(part, _TextRun) else part
