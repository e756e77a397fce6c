"""Limits of a model's, provider's or agent's reply, applied once, where the reply is read.

A label that is too long is cut. An answer or an id that is too long is an error of that call, because a part of it
would have another meaning.
"""

from dataclasses import replace
from math import isfinite

from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.text.storable import storable
from cupel_core.providers.errors import ProviderError

MAX_LABEL_LENGTH = 200
"""The maximum length of a model version and of a finish reason, in characters."""
MAX_THREAD_ID_LENGTH = 500
MAX_TEXT_LENGTH = 1_000_000
MAX_REASONING_LENGTH = 200_000
"""Longer reasoning is cut, because it is only shown."""
MAX_TOOL_CALLS = 100
MAX_ARGUMENTS_LENGTH = 100_000
MAX_SIGNATURE_LENGTH = 200_000
MAX_TOKENS = 1_000_000_000
MAX_COST_USD = 10_000.0


def token_count(value: object) -> int:
    """Return a number of tokens. Any other value is brought into the range from 0 to a billion."""
    if type(value) is int and 0 <= value <= MAX_TOKENS:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if isinstance(value, float) and not isfinite(value):
        return MAX_TOKENS if value > 0 else 0
    return int(min(max(value, 0), MAX_TOKENS))


def bounded_reply(reply: Reply) -> Reply:
    """Return the reply within the limits. Raise `ProviderError`, which a retry does not resolve."""
    check_length("the answer", len(reply.text), MAX_TEXT_LENGTH)
    check_length("the conversation id", len(reply.thread_id or ""), MAX_THREAD_ID_LENGTH)
    return replace(
        reply,
        text=storable(reply.text),
        model_version=_label(reply.model_version),
        finish_reason=_label(reply.finish_reason),
        thread_id=reply.thread_id and storable(reply.thread_id),
        tool_calls=_tool_calls(reply.tool_calls),
        usage=reply.usage and _usage(reply.usage),
        reasoning=reply.reasoning and storable(reply.reasoning, MAX_REASONING_LENGTH),
    )


def _usage(reported: Usage) -> Usage:
    """Return the usage with at most as many cached tokens as the prompt has. More would have a negative price."""
    total = token_count(reported.input_tokens)
    cached = min(total, token_count(reported.cached_input_tokens))
    written = min(total - cached, token_count(reported.cache_write_tokens))
    return Usage(total, token_count(reported.output_tokens), cached, written)


def check_length(what: str, length: int, limit: int) -> None:
    """Raise `ProviderError`, which a retry does not resolve, if the length exceeds the limit."""
    if length > limit:
        message = f"{what} has {length:,} characters; at most {limit:,} are accepted"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True)


def _tool_calls(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    if len(calls) > MAX_TOOL_CALLS:
        message = f"the answer has {len(calls):,} tool calls; at most {MAX_TOOL_CALLS} are accepted"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True)
    return tuple(map(_tool_call, calls))


def _tool_call(call: ToolCall) -> ToolCall:
    check_length("the arguments of a tool call", len(call.arguments), MAX_ARGUMENTS_LENGTH)
    check_length("the thought signature of a tool call", len(call.signature or ""), MAX_SIGNATURE_LENGTH)
    name, call_id = storable(call.name, MAX_LABEL_LENGTH), storable(call.id, MAX_LABEL_LENGTH)
    return replace(call, id=call_id, name=name, arguments=storable(call.arguments))


def _label(text: str | None) -> str | None:
    return None if text is None else storable(text, MAX_LABEL_LENGTH)
