"""Answers whose structure was declared: values for transforms and code, compact JSON for checks of texts."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.code_assertions import Code
from cupel_core.scoring.score import score
from tests.unit.scoring.conftest import ScriptedGrader

type Json = dict[str, Any]

PARIS = '{"answer": "Paris",\n "n": 1.0}'
CALL = ToolCall("call_1", "get_weather", '{"city": "Paris"}')


def answered(*messages: Message, **more: Any) -> AssertionContext:
    asked = Message(MessageRole.USER, "Capital of France?")
    said = tuple(message for answer in messages for message in (asked, answer))
    return AssertionContext(messages[-1].text, said, turns=len(messages), target_calls=len(messages), **more)


def text(content: str) -> Message:
    return Message(MessageRole.ASSISTANT, content)


async def passed(context: AssertionContext, *written: Json) -> list[bool | None]:
    scored = await score(list(map(Assertion.from_json, written)), context, ScriptedGrader("").graders())
    return [result.passed for result in scored.results]


async def output_seen_by_code(context: AssertionContext, **assertion: Any) -> Any:
    """The `output` that code of an assertion receives."""
    received: list[Any] = []

    async def run(_: Code, arguments: list[Any]) -> Any:
        received.append(arguments[0])
        return True

    written = {"type": "javascript", "value": "output", **assertion}
    await score([Assertion.from_json(written)], context, ScriptedGrader("").graders(), code_runner=run)
    return received[0]


async def test_the_answer_to_a_schema_is_a_value_for_transforms_and_code() -> None:
    context = answered(text(PARIS), has_schema=True)
    assert await output_seen_by_code(context) == {"answer": "Paris", "n": 1}
    assert await output_seen_by_code(context, type="python", transform="output.answer") == "Paris"
    assert await passed(
        context,
        {"type": "equals", "value": "Paris", "transform": "output.answer"},
        {"type": "equals", "value": 1, "transform": "output['n']"},
        {"type": "equals", "value": "Paris", "transform": "JSON.parse(output).answer"},
    ) == [True, True, False]


async def test_checks_of_texts_see_its_compact_json() -> None:
    assert await passed(
        answered(text(PARIS), has_schema=True),
        {"type": "equals", "value": '{"answer":"Paris","n":1}'},
        {"type": "equals", "value": {"answer": "Paris", "n": 1}},
        {"type": "contains", "value": '"answer":"Paris"'},
        {"type": "regex", "value": '"n":1\\}$'},
        {"type": "is-json"},
        {"type": "contains-json"},
        {"type": "contains", "value": '"answer": "Paris"'},
    ) == [True, True, True, True, True, True, False]


async def test_graders_of_openai_see_the_text_itself() -> None:
    value = {"operation": "eq", "input": "{{sample.output_text}}", "reference": PARIS}
    assert await passed(answered(text(PARIS), has_schema=True), {"type": "string-check", "value": value}) == [True]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("[1, {}]", [1, {}]),
        ('"Paris"', "Paris"),
        ("12345678901234567890", 12345678901234567000),
        ('{"b": 1, "2": 2, "1": 3}', {"1": 3, "2": 2, "b": 1}),
        ("Sorry, no JSON", "Sorry, no JSON"),
        ("[" * 100_000, "[" * 100_000),
        ("NaN", "NaN"),
    ],
)
async def test_any_json_is_a_value_and_all_else_a_text(answer: str, value: Any) -> None:
    given = await output_seen_by_code(answered(text(answer), has_schema=True))
    assert given == value
    assert not isinstance(value, dict) or list(given) == list(value)


async def test_without_a_schema_json_is_a_text() -> None:
    assert await output_seen_by_code(answered(text(PARIS))) == PARIS
    assert await passed(answered(text(PARIS)), {"type": "equals", "value": "Paris", "transform": "output.answer"}) == [
        False
    ]


async def test_calls_are_a_list_in_the_form_of_openai() -> None:
    context = answered(Message(MessageRole.ASSISTANT, "", (CALL,)))
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert await output_seen_by_code(context) == [{"id": "call_1", "type": "function", "function": function}]
    assert await passed(
        context,
        {"type": "equals", "value": "get_weather", "transform": "output[0].function.name"},
        {"type": "equals", "value": "Paris", "transform": "JSON.parse(output[0].function.arguments).city"},
        {"type": "contains", "value": '"name":"get_weather"'},
        {"type": "is-json"},
        {"type": "equals", "value": "output", "transform": "output[1].function.name"},
    ) == [True, True, True, True, False]


async def test_calls_beside_a_text_are_a_message() -> None:
    context = answered(Message(MessageRole.ASSISTANT, "One moment.", (CALL,)))
    assert await passed(
        context,
        {"type": "equals", "value": "One moment.", "transform": "output.content"},
        {"type": "equals", "value": "get_weather", "transform": "output.tool_calls[0].function.name"},
        {"type": "contains", "value": "One moment."},
    ) == [True, True, True]


async def test_each_answer_of_a_conversation_has_its_own_value() -> None:
    context = answered(text('{"n": 1}'), text('{"n": 2}'), has_schema=True)
    assert await output_seen_by_code(context, turn=1) == {"n": 1}
    assert await output_seen_by_code(context, transform="output.n") == 2
