"""Streamed chat completions: chunks with the differences of a message, and a last one with the usage."""

from dataclasses import field, replace

from pydantic import Field

from cupel_core.deferred import dataclass
from cupel_core.providers.errors import error_in_reply
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import WireModel, WireRequest

_USAGE = {"stream_options": {"include_usage": True}}


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    """The request for a stream. Without `with_usage`, servers that know no `stream_options` may report none."""
    return replace(request, body={**request.body, "stream": True, **(_USAGE if with_usage else {})})


class _Part(WireModel):
    type: str = "text"
    text: str | None = None


class _FunctionDelta(WireModel):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(WireModel):
    index: int = 0
    id: str | None = None
    function: _FunctionDelta = _FunctionDelta()


class _MessageDelta(WireModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_CallDelta] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class _StreamedChoice(WireModel):
    index: int = 0
    delta: _MessageDelta = _MessageDelta()
    finish_reason: str | None = None
    error: object = None


class _CompletionChunk(WireModel):
    error: object = None
    choices: list[_StreamedChoice] = Field(default_factory=list)
    model: str | None = None
    usage: dict[str, object] | None = None


@dataclass
class _OpenCall:
    id: str | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class OpenAiReply:
    is_over = False
    """`[DONE]` ends the stream."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._model: str | None = None
        self._usage: dict[str, object] | None = None
        self._finish_reason: str | None = None

    @property
    def has_finished(self) -> bool:
        return self._finish_reason is not None

    def add(self, event: object) -> str:
        chunk = _CompletionChunk.model_validate(event)
        for error in (chunk.error, *(choice.error for choice in chunk.choices)):
            if error:
                raise error_in_reply(error)
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        return "".join(self._add_choice(choice) for choice in chunk.choices if choice.index == 0)

    def _add_choice(self, choice: _StreamedChoice) -> str:
        delta = choice.delta
        self._finish_reason = choice.finish_reason or self._finish_reason
        for each in delta.tool_calls or ():
            call = self._calls.setdefault(each.index, _OpenCall())
            check_parts(len(self._calls))
            call.id, call.name = each.id or call.id, each.function.name or call.name
            call.arguments.append(each.function.arguments or "")
        self._texts.append(delta.text)
        self._refusals.append(delta.refusal or "")
        return delta.text or delta.refusal or ""

    def body(self) -> object:
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for _, call in sorted(self._calls.items())
        ]
        message = {"content": "".join(self._texts), "refusal": "".join(self._refusals), "tool_calls": calls}
        choice = {"message": message, "finish_reason": self._finish_reason}
        return {"choices": [choice], "model": self._model, "usage": self._usage}
