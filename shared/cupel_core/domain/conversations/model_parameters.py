"""Defines the parameters of a model request independently of the provider, and extra fields for servers of the user's
own."""

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.tools import Tool, ToolChoice
from cupel_core.domain.text.json_limits import json_limit_error

type ParameterFields = Mapping[str, Any]
"""Parameters are keyed by their names in the HTTP contract (`topP`), which validates them; null removes a default."""


class ReasoningEffort(StrEnum):
    """The amount of thinking that a reasoning model does before it answers."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


class FormatType(StrEnum):
    TEXT = "text"
    JSON = "json"
    JSON_SCHEMA = "json_schema"


@dataclass(frozen=True)
class ResponseFormat:
    type: FormatType
    schema: dict[str, object] | None = None
    """The JSON object must match this schema, which is set if the type is `json_schema`."""
    name: str = "answer"

    @classmethod
    def of_schema(cls, schema: Mapping[str, Any]) -> "ResponseFormat":
        return cls(FormatType.JSON_SCHEMA, dict(schema))


@dataclass(frozen=True)
class ModelParameters:
    """The provider's default applies to each parameter that is None or empty."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_output_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: ReasoningEffort | None = None
    response_format: ResponseFormat | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    keep_reasoning: bool | None = None
    """Reasoning in the text stays part of the answer. The parameter is not sent, but controls how the answer is
    read."""
    extra_body: Mapping[str, object] | None = None
    """Fields that are added to the request's body, for servers of the user's own."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(
            PARAMETER_NAMES[each.name] for each in fields(self) if getattr(self, each.name) not in (None, ())
        )


PARAMETER_NAMES = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_output_tokens": "maxOutputTokens",
    "stop": "stop",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "reasoning_effort": "reasoningEffort",
    "response_format": "responseFormat",
    "tools": "tools",
    "tool_choice": "toolChoice",
    "keep_reasoning": "keepReasoning",
    "extra_body": "extraBody",
}
"""The names are those of the HTTP contract and of stored items."""


LOOP_PARAMETERS = frozenset({"maxToolRounds", "toolConnectorId"})
"""Names that are set like parameters but not sent: they define who executes the model's calls, and how often."""


def merge_parameters(*layers: ParameterFields) -> dict[str, Any]:
    """Merge layers, of which later ones take precedence; null removes what earlier ones set."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= layer
    return {name: value for name, value in merged.items() if value is not None}


MAX_EXTRA_BODY_BYTES = 16_000
MAX_EXTRA_BODY_DEPTH = 10

_PARAMETERS = PARAMETER_NAMES | {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "reasoning": "reasoningEffort",
    "text": "responseFormat",
}
_OWN = frozenset({"model", "messages", "input", "instructions", "stream", "stream_options", "store", "background", "n"})
"""Cupel sets these fields itself, because it reads the answer accordingly."""


def extra_body_error(body: Mapping[str, object]) -> str | None:
    """Return why the fields cannot be added to a request; None if they can."""
    for name in body:
        if parameter := _PARAMETERS.get(name):
            return f"must not have {name}: the parameter {parameter} sets it"
        if name in _OWN:
            return f"must not have {name}, which Cupel sets itself"
    if not _is_nested_at_most(body, MAX_EXTRA_BODY_DEPTH):
        return f"must not be nested deeper than {MAX_EXTRA_BODY_DEPTH}"
    if error := json_limit_error(dict(body)):
        return error
    if len(json.dumps(body, ensure_ascii=False).encode()) > MAX_EXTRA_BODY_BYTES:
        return f"must have at most {MAX_EXTRA_BODY_BYTES:,} bytes as JSON"
    return None


def _is_nested_at_most(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_nested_at_most(each, depth - 1) for each in inner)
