"""Checks of the functions that a target calls: recorded, or written in the output."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import Tool, ToolCall
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.score import score
from tests.unit.scoring.conftest import ScriptedGrader

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Tool("weather", parameters=SCHEMA), Tool("time"))


def said(*messages: str | Message | tuple[ToolCall, ...]) -> tuple[Message, ...]:
    """A user's texts, a target's calls, and whole messages."""
    return tuple(
        Message(MessageRole.USER, each)
        if isinstance(each, str)
        else each
        if isinstance(each, Message)
        else Message(MessageRole.ASSISTANT, "", each)
        for each in messages
    )


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("call_1", name, arguments)


RESULT = Message(MessageRole.TOOL, "ok", tool_call_id="call_1")
ANSWER = Message(MessageRole.ASSISTANT, "It is sunny.")
PARIS = call("weather", '{"city": "Paris", "unit": "C"}')
CONVERSATION = said(
    "Weather?", (PARIS,), RESULT, ANSWER, "And the time?", (call("time"), call("time")), RESULT, RESULT, ANSWER
)


async def check(written: dict[str, Any], messages: tuple[Message, ...], **more: Any) -> AssertionResult:
    assert assertion_issues([written]) == ()
    replies = sum(message.role is MessageRole.ASSISTANT for message in messages)
    turns = sum(message.role is MessageRole.USER for message in messages)
    context = AssertionContext(last_answer(messages), messages, turns=turns, target_calls=replies, tools=TOOLS, **more)
    return (await score([Assertion.from_json(written)], context, ScriptedGrader("").graders())).results[0]


async def passes(written: dict[str, Any], messages: tuple[Message, ...] = CONVERSATION) -> bool | None:
    return (await check(written, messages)).passed


VALID = ("is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call")


@pytest.mark.parametrize("kind", VALID)
@pytest.mark.parametrize(
    ("calls", "passed"),
    [
        ((PARIS,), True),
        ((PARIS, call("time", "")), True),
        ((PARIS, call("weather")), False),
        ((call("weather", '{"city": 3}'),), False),
        ((call("weather", "not JSON"),), False),
        ((call("wether", '{"city": "Paris"}'),), False),
        ((), False),
    ],
)
async def test_recorded_calls_are_valid_if_all_satisfy_their_schemas(
    kind: str, calls: tuple[ToolCall, ...], passed: bool
) -> None:
    assert await passes({"type": kind}, said("Weather?", calls)) is passed
    assert await passes({"type": f"not-{kind}"}, said("Weather?", calls)) is not passed


async def test_the_calls_of_all_rounds_of_the_last_answer_are_checked() -> None:
    messages = said("Weather?", (call("weather"),), RESULT, (PARIS,), RESULT, ANSWER)
    assert await passes({"type": VALID[0]}, messages) is False
    assert await passes({"type": VALID[0]}, (*said("Hi", (call("weather"),), RESULT, ANSWER), *CONVERSATION)) is True


OPENAI_TOOLS = '[{"type": "function", "function": {"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]'
OPENAI_FUNCTION = '{"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}'
ANTHROPIC = '[{"type": "text", "text": "Wait."}, {"type": "tool_use", "name": "weather", "input": {"city": "Paris"}}]'
GOOGLE = '[{"text": "Wait."}, {"functionCall": {"name": "weather", "args": {"city": "Paris"}}}]'
LIVE = '{"toolCall": {"functionCalls": [{"name": "weather", "args": {"city": "Paris"}}]}}'


@pytest.mark.parametrize(
    ("output", "valid"),
    [
        (OPENAI_TOOLS, {VALID[0], VALID[2]}),
        (f'{{"tool_calls": {OPENAI_TOOLS}}}', {VALID[0], VALID[2]}),
        (OPENAI_FUNCTION, {VALID[1], VALID[2]}),
        (f'{{"function_call": {OPENAI_FUNCTION}}}', {VALID[1], VALID[2]}),
        (ANTHROPIC, {VALID[2]}),
        (GOOGLE, {VALID[2]}),
        (LIVE, {VALID[2]}),
        (OPENAI_TOOLS.replace("Paris", "1").replace('\\"1\\"', "1"), set()),
        (ANTHROPIC.replace('"Paris"', "1"), set()),
        (GOOGLE.replace("weather", "wether"), set()),
        ("{}", set()),
        ("[]", set()),
        ('[{"function": 1}]', set()),
    ],
)
async def test_calls_in_a_transformed_output_are_valid_by_their_form(output: str, valid: set[str]) -> None:
    messages = said("Weather?", Message(MessageRole.ASSISTANT, output))
    assert {
        kind for kind in VALID if await passes({"type": kind, "transform": "JSON.parse(output)"}, messages)
    } == valid


async def test_a_text_is_read_only_as_a_function_call_of_any_form() -> None:
    messages = said("Weather?", Message(MessageRole.ASSISTANT, OPENAI_TOOLS))
    assert [await passes({"type": kind}, messages) for kind in VALID] == [False, False, True]


async def test_hostile_schemas_and_arguments_are_checked_within_limits() -> None:
    deep = Tool("deep", parameters={"patternProperties": {"^(a|a)*$": {}}})
    messages = said("Go.", (call("deep", '{"' + "a" * 60 + 'b": 1}'),))
    context = AssertionContext("", messages, tools=(deep,))
    result = (await score([Assertion(VALID[0])], context, ScriptedGrader("").graders())).results[0]
    assert result.passed is None
    assert "computing it takes" in (result.error or "")


@pytest.mark.parametrize(
    ("expected", "f1"),
    [("time", 1.0), (["time"], 1.0), ("time, weather", 2 / 3), ("pay", 0.0)],
)
async def test_f1_compares_the_names_called_for_the_last_answer(expected: Any, f1: float) -> None:
    result = await check({"type": "tool-call-f1", "value": expected}, CONVERSATION)
    assert (result.score, result.passed) == (pytest.approx(f1), f1 == 1)


@pytest.mark.parametrize(
    "output",
    [
        '{"tool_calls": [{"function": {"name": "weather"}}, {"name": "time"}]}',
        '[{"function": {"name": "weather"}}, {"name": "time"}]',
        '[{"type": "tool_use", "name": "weather"}, {"functionCall": {"name": "time"}}]',
        '{"toolCall": {"functionCalls": [{"name": "weather"}, {"name": "time"}]}}',
        'I look.\n\n{"type": "tool_use", "name": "weather"}\n\n{\n "type": "function_call", "name": "time"\n}',
        '```\n{"type": "tool_use", "name": "pay"}\n```\n{"type": "tool_use", "name": "weather"}\n[{"name": "time"}]',
    ],
)
async def test_f1_reads_names_from_the_output_if_nothing_was_called(output: str) -> None:
    messages = said("Weather?", Message(MessageRole.ASSISTANT, output))
    assert await passes({"type": "tool-call-f1", "value": "weather,time"}, messages) is True


@pytest.mark.parametrize(
    ("value", "passed", "negated"),
    [
        ("weather", True, False),
        ("WEA*", True, False),
        ("t?me", True, False),
        ("wea", False, True),
        (["weather", "time"], True, False),
        (["weather", "pay"], False, False),
        (["steal", "pay"], False, True),
        ({"name": "time", "min": 2}, True, False),
        ({"name": "pay", "min": None, "max": 3}, False, True),
        ({"pattern": "*", "max": 2}, False, True),
        ({"name": "pay", "min": 0, "max": 0}, True, False),
    ],
)
async def test_functions_are_used(value: Any, passed: bool, negated: bool) -> None:
    assert await passes({"type": "trajectory:tool-used", "value": value}) is passed
    assert await passes({"type": "not-trajectory:tool-used", "value": value}) is negated


@pytest.mark.parametrize(
    ("rules", "passed"),
    [
        ({"args": {"city": "Paris"}}, True),
        ({"arguments": {"city": "Paris"}}, True),
        ({"args": {"city": "paris"}}, False),
        ({"args": {"city": "Paris"}, "mode": "exact"}, False),
        ({"args": {"city": "Paris"}, "mode": "exact", "defaults": {"unit": "C"}}, True),
        ({"args": {"city": "Paris"}, "mode": "exact", "defaults": {"unit": "F"}}, False),
        ({"args": {"city": "Paris"}, "mode": "exact", "ignore": "u*"}, True),
        ({"args": {"city": "Rome"}, "ignore": ["city"]}, True),
    ],
)
async def test_arguments_match(rules: dict[str, Any], passed: bool) -> None:
    value = {"name": "weather", **rules}
    assert await passes({"type": "trajectory:tool-args-match", "value": value}) is passed
    assert await passes({"type": "not-trajectory:tool-args-match", "value": value}) is not passed


@pytest.mark.parametrize(
    ("value", "passed"),
    [
        (["weather", "time"], True),
        (["time", "weather"], False),
        (["time", "time"], True),
        ([{"name": "weather"}, {"pattern": "t*"}], True),
        ({"mode": "exact", "steps": ["weather", "time", "time"]}, True),
        ({"mode": "exact", "steps": ["weather", "time"]}, False),
    ],
)
async def test_functions_are_called_in_sequence(value: Any, passed: bool) -> None:
    assert await passes({"type": "trajectory:tool-sequence", "value": value}) is passed
    assert await passes({"type": "not-trajectory:tool-sequence", "value": value}) is not passed


@pytest.mark.parametrize(
    ("value", "passed"),
    [
        ({"min": 5, "max": 5}, True),
        ({"max": 4}, False),
        ({"type": "tool", "min": 3, "max": 3}, True),
        ({"type": ["tool", "message"], "pattern": "TIME", "min": 2, "max": 2}, True),
        ({"type": "message", "max": 1}, False),
    ],
)
async def test_steps_are_counted(value: Any, passed: bool) -> None:
    assert await passes({"type": "trajectory:step-count", "value": value}) is passed


async def test_a_turn_selects_the_calls_of_its_answer() -> None:
    assert await passes({"type": "trajectory:tool-used", "value": "time", "turn": 1}) is False
    assert await passes({"type": "trajectory:tool-used", "value": "weather", "turn": 1}) is True
    assert await passes({"type": "tool-call-f1", "value": "weather", "turn": 1}) is True
    assert await passes({"type": "equals", "value": "It is sunny.", "turn": 2}) is True


async def test_calls_of_the_scenarios_own_messages_do_not_count() -> None:
    messages = (*said("Hi", (call("pay"),), RESULT), ANSWER)
    context = AssertionContext("It is sunny.", messages, tools=TOOLS)
    used = Assertion("trajectory:tool-used", value="pay")
    assert (await score([used], context, ScriptedGrader("").graders())).results[0].passed is False


@pytest.mark.parametrize(
    "written",
    [
        {"type": "tool-call-f1", "value": " , "},
        {"type": "tool-call-f1", "value": ["a"], "threshold": 2},
        {"type": "trajectory:tool-used"},
        {"type": "trajectory:tool-used", "value": []},
        {"type": "trajectory:tool-used", "value": {"min": 1}},
        {"type": "trajectory:tool-used", "value": {"name": "a", "type": "command"}},
        {"type": "trajectory:tool-used", "value": "a", "transform": "output.trim()"},
        {"type": "trajectory:tool-args-match", "value": {"name": "a"}},
        {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {}, "mode": "fuzzy"}},
        {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {}, "ignore": 3}},
        {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {}, "defaults": []}},
        {"type": "trajectory:tool-sequence", "value": []},
        {"type": "trajectory:tool-sequence", "value": {"steps": ["a"], "mode": "any"}},
        {"type": "trajectory:tool-sequence", "value": [{"min": 1}]},
        {"type": "trajectory:step-count", "value": {}},
        {"type": "trajectory:step-count", "value": {"min": 3, "max": 2}},
        {"type": "trajectory:step-count", "value": {"max": 2, "type": "span"}},
        {"type": "trajectory:step-count", "value": {"max": 2, "name": "x" * 201}},
    ],
)
def test_invalid_values_are_refused(written: dict[str, Any]) -> None:
    assert assertion_issues([written])
