"""Streamed responses of OpenAI's Responses API: the last event has the whole response."""

from collections.abc import Mapping
from dataclasses import replace

from cupel_core.providers.errors import error_in_reply, reply_error
from cupel_core.providers.reply_fields import mapping
from cupel_core.providers.wire_format import WireRequest

_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def streaming(request: WireRequest, *, with_usage: bool) -> WireRequest:
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
