"""Summaries of the calls of operations for the record of a turn. They are bounded, and have the texts only on
request."""

import hashlib
from collections.abc import Sequence
from typing import Any

from cupel_core.domain.conversations.model_request import Message, Reply
from cupel_core.domain.pipeline.params import ModelCall, OutputMode, OutputSpec
from cupel_core.domain.pipeline.results import CallSummary
from cupel_core.domain.pipeline.secrets import masked
from cupel_core.domain.text.storable import storable

MAX_JSON_LENGTH = 1_024
"""An answer that must be JSON is cut to this many characters."""
MAX_DEBUG_LENGTH = 8_000
"""Each text that is recorded with `debug` is cut to this many characters."""
_TEXTS = {"system", "prompt", "answer"}


def summarize_request(
    call: ModelCall, output: OutputSpec, messages: Sequence[Message], *, has_texts: bool
) -> dict[str, Any]:
    """Return the summary of a call. `messages` are the rendered system prompt, if there is one, and the prompt."""
    limits = {"maxInputTokens": call.max_input_tokens, "maxCostUsd": call.max_cost_usd}
    texts = {"prompt": messages[-1].content, **({"system": messages[0].content} if len(messages) > 1 else {})}
    return {
        "model": call.target.model,
        "params": dict(call.target.params),
        "outputMode": output.mode,
        **{name: limit for name, limit in limits.items() if limit is not None},
        **{f"{name}Hash": _hash(text) for name, text in texts.items()},
        **({name: _debugged(text) for name, text in texts.items()} if has_texts else {}),
    }


def summarize_reply(reply: Reply, output: OutputSpec, *, has_texts: bool) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "modelVersion": reply.model_version,
        "stopReason": reply.finish_reason,
        "answerLength": len(reply.text),
        "answerHash": _hash(reply.text),
    }
    if has_texts:
        summary["answer"] = _debugged(reply.text)
    elif output.mode is OutputMode.JSON:
        summary["answer"] = storable(reply.text, MAX_JSON_LENGTH)
    return summary


def without_texts(summary: CallSummary) -> CallSummary:
    """Return the summary without the texts of the call, which may be much longer than the rest."""
    return {
        part: {name: value for name, value in fields.items() if name not in _TEXTS} for part, fields in summary.items()
    }


def _debugged(text: str) -> str:
    return storable(masked(text), MAX_DEBUG_LENGTH)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
