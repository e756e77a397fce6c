"""Scripted results of tools: which one answers a call."""

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tool_results import (
    NOT_EXECUTED,
    ScriptedResult,
    ScriptedResults,
    executed_calls,
    shown_to_user,
)
from cupel_core.domain.conversations.tools import ToolCall


def call(arguments: str = "{}", name: str = "find") -> ToolCall:
    return ToolCall("call_1", name, arguments)


def answers(scripts: list[ScriptedResult], *made: ToolCall, earlier: tuple[ToolCall, ...] = ()) -> list[str | None]:
    scripted = ScriptedResults(scripts, earlier)
    outcomes = [scripted.answer(each) for each in made]
    return [outcome and outcome.content for outcome in outcomes]


def test_the_first_that_matches_answers_every_time() -> None:
    scripts = [
        ScriptedResult("find", "Paris", arguments={"city": "Paris"}),
        ScriptedResult("find", "elsewhere"),
        ScriptedResult("find", "never"),
    ]
    paris = call('{"city": "Paris", "unit": "C"}')
    assert answers(scripts, paris, call('{"city": "Rome"}'), paris) == ["Paris", "elsewhere", "Paris"]


def test_one_with_times_answers_so_many_calls() -> None:
    scripts = [ScriptedResult("find", "first", times=2), ScriptedResult("find", "later")]
    assert answers(scripts, call(), call(), call()) == ["first", "first", "later"]


def test_calls_of_earlier_rounds_count() -> None:
    scripts = [ScriptedResult("find", error="busy", times=1), ScriptedResult("find", "found")]
    assert answers(scripts, call(), earlier=(call(),)) == ["found"]


@pytest.mark.parametrize(
    ("expected", "written", "matches"),
    [
        ({"a": 1}, '{"a": 1.0}', True),
        ({"a": 1}, '{"a": true}', False),
        ({"a": None}, "{}", False),
        ({"a": {"b": [1, {"c": "x"}]}}, '{"a": {"b": [1, {"c": "x"}]}}', True),
        ({"a": {"b": 1}}, '{"a": {"b": 1, "c": 2}}', False),
        ({}, "", True),
        ({}, "nonsense", False),
    ],
)
def test_given_arguments_must_be_equal(expected: dict[str, object], written: str, matches: bool) -> None:
    script = ScriptedResult("find", "found", arguments=expected)
    assert answers([script], call(written)) == ["found" if matches else None]


def test_a_script_survives_its_json() -> None:
    for script in (
        ScriptedResult("find", None, arguments={"a": 1}, times=2),
        ScriptedResult("find", error="no"),
        ScriptedResult("find", ["x"]),
    ):
        assert ScriptedResult.from_json(script.to_json()) == script


def pay(call_id: str) -> ToolCall:
    return ToolCall(call_id, "pay", "{}")


def test_calls_of_a_scenarios_own_messages_are_not_the_targets() -> None:
    messages = (
        Message(MessageRole.ASSISTANT, "", (call(),)),
        Message(MessageRole.TOOL, "found", tool_call_id="call_1"),
        Message(MessageRole.ASSISTANT, "", (pay("call_2"), pay("call_3"))),
        Message(MessageRole.TOOL, "paid", tool_call_id="call_3"),
    )
    assert executed_calls(messages, target_calls=1) == [pay("call_3")]


def test_a_user_sees_a_call_only_if_it_is_the_answer() -> None:
    answer = Message(MessageRole.ASSISTANT, "", (call(),))
    messages = (
        Message(MessageRole.SYSTEM, "Be kind."),
        Message(MessageRole.USER, "Find it."),
        Message(MessageRole.ASSISTANT, "Wait.", (call(), call())),
        Message(MessageRole.TOOL, "found", tool_call_id="call_1"),
        Message(MessageRole.TOOL, "found", tool_call_id="call_2"),
        answer,
        Message(MessageRole.TOOL, NOT_EXECUTED, tool_call_id="call_1"),
    )
    assert shown_to_user(messages) == (messages[1], Message(MessageRole.ASSISTANT, "Wait."), answer)
