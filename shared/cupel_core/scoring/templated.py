"""Computes assertions whose value has templates of its own, for what is compared or shown to a judge.

Assertions that call models are in `registry.py`, because the sandbox imports this module.
"""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_templates import SAMPLE, recorded_messages, recorded_sample, render_template
from cupel_core.domain.scoring.grader_values import DEFAULT_RANGE, StringOperation, TextMetric
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, binary, graded, quote

TEMPLATED = frozenset({"string-check", "text-similarity", "embedding-similarity", "label-model", "score-model"})
TEXTS = ("input", "reference")


def render_value(value: Mapping[str, Any], context: AssertionContext) -> dict[str, Any]:
    """Return the value with its templates rendered. Raises ValueError for an unknown variable."""
    recorded = context.variables.get(SAMPLE)
    sample = _with_derived(recorded_sample(recorded)) if isinstance(recorded, Mapping) else sample_of(context)
    namespaces = {**context.variables, SAMPLE: sample}
    rendered = dict(value)
    for name in TEXTS:
        if name in value:
            rendered[name] = render_template(value[name], namespaces)
    if "messages" in value:
        rendered["messages"] = [
            {**message, "content": render_template(message["content"], namespaces)} for message in value["messages"]
        ]
    return rendered


def judge_messages(assertion: Assertion) -> tuple[Message, ...]:
    """Return the messages for the judge of a `label-model` or `score-model`, of which the first states the answer's
    form. Some providers refuse a request that does not end with the user."""
    written = [Message(MessageRole(each["role"]), each["content"]) for each in assertion.value["messages"]]
    if written[-1].role is not MessageRole.USER:
        written[-1] = Message(MessageRole.USER, written[-1].content)
    form = (
        f'Follow the messages below. Answer with one JSON object: "reason": what decided it; {_asked_for(assertion)}.'
    )
    return (Message(MessageRole.SYSTEM, form), *written)


def _asked_for(assertion: Assertion) -> str:
    if assertion.kind == "label-model":
        return f'"label": one of {json.dumps(assertion.value["labels"], ensure_ascii=False)}'
    low, high = assertion.value.get("range", DEFAULT_RANGE)
    return f'"score": a number from {low:g} to {high:g}'


def sample_of(context: AssertionContext) -> dict[str, Any]:
    """Return what templates may use of the target's answer, in the form of OpenAI's chat completions."""
    calls = [
        {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
        for call in context.answer_calls
    ]
    message = {"role": "assistant", "content": context.output, **({"tool_calls": calls} if calls else {})}
    return {
        "output_text": context.output,
        "output_json": _parsed(context.output),
        "output_tools": calls,
        "choices": [{"index": 0, "message": message, "finish_reason": context.finish_reason}],
    }


def _with_derived(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded sample, with the JSON of its text and its calls of functions if they are not recorded as
    such."""
    calls = [calls for message in recorded_messages(sample) if (calls := message.get("tool_calls"))]
    text = sample.get("output_text")
    derived = {"output_json": _parsed(text) if isinstance(text, str) else {}, "output_tools": calls[0] if calls else []}
    return {**derived, **sample}


def _parsed(text: str) -> Any:
    """Return the JSON of the text; for other text, return an empty object, in which no path has a value."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}


def string_check(assertion: Assertion, _: AssertionContext) -> CheckResult:
    text, reference = assertion.value["input"], assertion.value["reference"]
    match StringOperation(assertion.value["operation"]):
        case StringOperation.EQ:
            return binary(text == reference, _compared(text, "equals", "differs from", reference, text == reference))
        case StringOperation.NE:
            return binary(text != reference, _compared(text, "equals", "differs from", reference, text == reference))
        case StringOperation.ILIKE:
            text, reference = text.lower(), reference.lower()
    return binary(reference in text, _compared(text, "has", "lacks", reference, reference in text))


def _compared(text: str, yes: str, no: str, reference: str, holds: bool) -> str:
    return f"{quote(text)} {yes if holds else no} {quote(reference)}"


def text_similarity(assertion: Assertion, _: AssertionContext) -> CheckResult:
    from cupel_core.scoring.text_metrics import METRICS

    metric = TextMetric(assertion.value["metric"])
    score = METRICS[metric](assertion.value["input"], assertion.value["reference"])
    return graded(metric, score, assertion.threshold or 0.0)


def similarity_work(value: Mapping[str, Any]) -> float:
    """Return an upper bound of the cost of `text_similarity`, as `checks.work_of` does."""
    size, other = len(value["input"]), len(value["reference"])
    return 100 * (size + other) + size * other / 10
