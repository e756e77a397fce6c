"""Fields of a request's body that Cupel does not know, for servers of the user's own."""

import json
from collections.abc import Mapping

from cupel_core.domain.conversations.model_parameters import PARAMETER_NAMES
from cupel_core.domain.text.json_limits import json_limit_error

MAX_BYTES = 16_000
"""An extra body has at most this size as JSON."""
MAX_DEPTH = 10

_PARAMETERS = PARAMETER_NAMES | {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "reasoning": "reasoningEffort",
    "text": "responseFormat",
}
"""The parameter that sets each of these fields."""
_OWN = frozenset({"model", "messages", "input", "instructions", "stream", "stream_options", "store", "background", "n"})
"""Cupel decides about these fields itself: the answer is read accordingly."""


def extra_body_error(body: Mapping[str, object]) -> str | None:
    """Say why the fields cannot be added to a request; None if they can."""
    for name in body:
        if parameter := _PARAMETERS.get(name):
            return f"must not have {name}: the parameter {parameter} sets it"
        if name in _OWN:
            return f"must not have {name}, which Cupel sets itself"
    if not _is_nested_at_most(body, MAX_DEPTH):
        return f"must not be nested deeper than {MAX_DEPTH}"
    if error := json_limit_error(dict(body)):
        return error
    if len(json.dumps(body, ensure_ascii=False).encode()) > MAX_BYTES:
        return f"must have at most {MAX_BYTES:,} bytes as JSON"
    return None


def _is_nested_at_most(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_nested_at_most(each, depth - 1) for each in inner)
