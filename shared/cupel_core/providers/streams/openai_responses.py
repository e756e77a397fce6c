"""Streamed responses of OpenAI's Responses API: the last event has the whole response."""

from dataclasses import replace

from cupel_core.providers.errors import error_in_reply
from cupel_core.providers.wire_format import WireModel, WireRequest

_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
    del with_usage  # The last event always has it.
    return replace(request, body={**request.body, "stream": True})


class _ResponseEvent(WireModel):
    type: str = ""
    delta: object = None
    response: dict[str, object] | None = None


class ResponsesReply:
    def __init__(self) -> None:
        self._response: dict[str, object] | None = None

    @property
    def has_finished(self) -> bool:
        return self._response is not None

    @property
    def is_over(self) -> bool:
        return self.has_finished

    def add(self, event: object) -> str:
        read = _ResponseEvent.model_validate(event)
        if read.type == "error":
            raise error_in_reply(event)
        if read.type in _ENDS:
            self._response = read.response or {}
        return read.delta if read.type in _TEXTS and isinstance(read.delta, str) else ""

    def body(self) -> object:
        return self._response
