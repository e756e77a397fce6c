"""Streams of OpenAI's two APIs.

Chat completions arrive as chunks with the differences of a message, and a last one with the usage. The last event of
the Responses API has the whole response.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.providers import openai
from cupel_core.providers.errors import error_in_reply, reply_error
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.streams.reply_stream import check_parts
from cupel_core.providers.wire_format import WireRequest

_USAGE = {"stream_options": {"include_usage": True}}
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    """Return the request for a stream. Without `with_usage`, servers that know no `stream_options` may report none."""
    return replace(request, body={**request.body, "stream": True, **(_USAGE if with_usage else {})})


@dataclass
class _OpenCall:
    id: str | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class OpenAiReply:
    is_over = False
    """The event `[DONE]` ends the stream."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._model: object = None
        self._usage: object = None
        self._finish_reason: str | None = None

    @property
    def has_finished(self) -> bool:
        return self._finish_reason is not None

    def add(self, event: object) -> str:
        if error := reply_error(event):
            raise error
        chunk = mapping(event)
        self._model = chunk.get("model") or self._model
        self._usage = chunk.get("usage") or self._usage
        if "choices" not in chunk and "message" in chunk:
            return self._add_choice(self._ollama_choice(chunk))
        return "".join(self._add_choice(choice) for choice in mappings(chunk.get("choices")) if not choice.get("index"))

    def _ollama_choice(self, chunk: Mapping[str, object]) -> Mapping[str, object]:
        """Return the choice of a chunk in Ollama's own format, which has the counts beside the message."""
        if chunk.get("done") is not True:
            return {"delta": chunk["message"]}
        self._usage = chunk
        return {"delta": chunk["message"], "finish_reason": chunk.get("done_reason") or "stop"}

    def _add_choice(self, choice: Mapping[str, object]) -> str:
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
        self._finish_reason = label(choice.get("finish_reason")) or self._finish_reason
        for position, each in enumerate(mappings(delta.get("tool_calls"))):
            number = each.get("index")
            call = self._calls.setdefault(number if isinstance(number, int) else position, _OpenCall())
            check_parts(len(self._calls))
            function = mapping(each.get("function"))
            call.id, call.name = label(each.get("id")) or call.id, label(function.get("name")) or call.name
            if function.get("arguments") is not None:
                call.arguments.append(arguments_of(function["arguments"]))
        content, refusal = content_of(delta.get("content")), delta.get("refusal")
        text = content.text or (refusal if isinstance(refusal, str) else "")
        (self._texts if content.text else self._refusals).append(text)
        self._thoughts.append(content.reasoning or openai.reasoning_of(delta))
        return text

    def body(self) -> object:
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for _, call in sorted(self._calls.items())
        ]
        message = {
            "content": "".join(self._texts),
            "refusal": "".join(self._refusals),
            "reasoning_content": "".join(self._thoughts),
            "tool_calls": calls,
        }
        choice = {"message": message, "finish_reason": self._finish_reason}
        return {"choices": [choice], "model": self._model, "usage": self._usage}


def responses_streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # The last event always has it.
    return replace(request, body={**request.body, "stream": True})


class ResponsesReply:
    def __init__(self) -> None:
        self._response: Mapping[str, object] | None = None

    @property
    def has_finished(self) -> bool:
        return self._response is not None

    @property
    def is_over(self) -> bool:
        return self.has_finished

    def add(self, event: object) -> str:
        read = mapping(event)
        kind, delta = read.get("type"), read.get("delta")
        if kind == "error":
            raise error_in_reply(event)
        if kind is None and (error := reply_error(event)):
            raise error
        if kind in _ENDS:
            self._response = mapping(read.get("response"))
        return delta if kind in _TEXTS and isinstance(delta, str) else ""

    def body(self) -> object:
        return self._response
