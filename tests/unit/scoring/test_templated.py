"""Assertions that compare or judge rendered templates."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.score import score

type ScriptedGraders = Callable[..., Any]

ITEM = {"label": "Hardware", "parts": ["a", {"b": 2}], "a b": "spaced"}
CHECK = {"operation": "eq", "input": "{{ sample.output_text }}", "reference": "{{ item.label }}"}
JUDGE_MESSAGES = [{"role": "user", "content": "Is {{ sample.output_text }} like {{ item.label }}?"}]


def context_of(output: str, **variables: Any) -> AssertionContext:
    messages = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, output))
    return AssertionContext(output, messages, variables={"item": ITEM, **variables})


async def graded(judge: Any, written: dict[str, Any], context: AssertionContext) -> AssertionResult:
    assert assertion_issues([written]) == ()
    return (await score([Assertion.from_json(written)], context, judge.graders())).results[0]


@pytest.mark.parametrize(
    ("operation", "text", "passed"),
    [
        ("eq", "Hardware", True),
        ("eq", "hardware", False),
        ("ne", "Hardware", False),
        ("ne", "Software", True),
        ("like", "It is Hardware.", True),
        ("like", "It is hardware.", False),
        ("ilike", "It is hardware.", True),
        ("ilike", "It is soft.", False),
    ],
)
async def test_a_string_check_compares_rendered_texts(
    grader_of: ScriptedGraders, operation: str, text: str, passed: bool
) -> None:
    written = {"type": "string-check", "value": {**CHECK, "operation": operation}}
    result = await graded(grader_of({}), written, context_of(text))
    assert (result.passed, result.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ("{{item.parts[0]}}", "a"),
        ("{{ item.parts[1].b }}", "2"),
        ("{{item['a b']}}", "spaced"),
        ('{{item["a b"]}}', "spaced"),
        ("{{item.parts}}", '["a", {"b": 2}]'),
        ("{{sample.output_json.x.y}}", "5"),
        ("{{sample.output_json.nothing}}", ""),
        ("{{sample.choices[0].message.content}}", '{"x": {"y": 5}}'),
        ('{"label": {{item.parts[1].b}}}', '{"label": 2}'),
    ],
)
async def test_templates_are_paths_into_the_item_and_the_sample(
    grader_of: ScriptedGraders, template: str, rendered: str
) -> None:
    written = {"type": "string-check", "value": {"operation": "eq", "input": template, "reference": rendered}}
    assert (await graded(grader_of({}), written, context_of('{"x": {"y": 5}}'))).passed is True


async def test_a_value_that_is_filled_in_is_not_a_template(grader_of: ScriptedGraders) -> None:
    output = "{{ item.label }}"
    written = {"type": "string-check", "value": {**CHECK, "reference": "Hardware"}}
    assert (await graded(grader_of({}), written, context_of(output))).passed is False


@pytest.mark.parametrize(
    ("path", "rendered"),
    [
        ("name", "find"),
        ("arguments", '{"n":[{"a":1}]}'),
        ("arguments.n[0].a", "1"),
        ("arguments.n", '[{"a": 1}]'),
        ("arguments.m", ""),
        ("name.n", ""),
    ],
)
async def test_calls_of_functions_and_the_json_of_their_arguments_are_part_of_the_sample(
    grader_of: ScriptedGraders, path: str, rendered: str
) -> None:
    call = Message(MessageRole.ASSISTANT, "", (ToolCall("call_1", "find", '{"n":[{"a":1}]}'),))
    context = AssertionContext("", (Message(MessageRole.USER, "?"), call), variables={"item": ITEM})
    value = {"operation": "eq", "input": f"{{{{sample.output_tools[0].function.{path}}}}}", "reference": rendered}
    assert (await graded(grader_of({}), {"type": "string-check", "value": value}, context)).passed is True


@pytest.mark.parametrize("arguments", ["[" * 100_000, "9" * 10_000, "1e999", '"\\ud800"', "{no json"])
async def test_arguments_that_no_reader_accepts_have_no_parts(grader_of: ScriptedGraders, arguments: str) -> None:
    call = Message(MessageRole.ASSISTANT, "", (ToolCall("call_1", "find", arguments),))
    context = AssertionContext("", (Message(MessageRole.USER, "?"), call), variables={"item": ITEM})
    value = {"operation": "eq", "input": "{{sample.output_tools[0].function.arguments.n}}", "reference": ""}
    assert (await graded(grader_of({}), {"type": "string-check", "value": value}, context)).passed is True


CALLS = [{"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"n":1}'}}]


@pytest.mark.parametrize(
    ("sample", "template", "rendered"),
    [
        ({"output_text": '{"x": 5}'}, "{{sample.output_json.x}}", "5"),
        ({"output_text": "{", "output_json": {"x": 6}}, "{{sample.output_json.x}}", "6"),
        ({"output": [{"content": '{"x": 7}'}]}, "{{sample.output_json.x}}", "7"),
        ({"choices": [{"message": {"tool_calls": CALLS}}]}, "{{sample.output_tools[0].function.name}}", "find"),
        ({"output": [{"tool_calls": CALLS}]}, "{{sample.output_tools[0].function.arguments.n}}", "1"),
        ({"output": [{"tool_calls": 5}]}, "{{sample.output_tools[0].function.name}}", ""),
    ],
)
async def test_a_recorded_sample_has_the_json_and_the_calls_of_its_messages(
    grader_of: ScriptedGraders, sample: dict[str, Any], template: str, rendered: str
) -> None:
    value = {"operation": "eq", "input": template, "reference": rendered}
    context = context_of("something else", sample=sample)
    assert (await graded(grader_of({}), {"type": "string-check", "value": value}, context)).passed is True


async def test_a_sample_of_the_scenario_stands_for_the_answer(grader_of: ScriptedGraders) -> None:
    context = context_of("something else", sample={"output_text": "Hardware"})
    assert (await graded(grader_of({}), {"type": "string-check", "value": CHECK}, context)).passed is True


async def test_an_unknown_variable_is_an_error_and_no_failure(grader_of: ScriptedGraders) -> None:
    written = {"type": "string-check", "value": {**CHECK, "reference": "{{item.nothing}}"}}
    result = await graded(grader_of({}), written, context_of("x"))
    assert (result.passed, result.error) == (None, "unknown variable item.nothing")


async def test_a_text_of_more_than_a_million_characters_is_an_error(grader_of: ScriptedGraders) -> None:
    written = {"type": "string-check", "value": {**CHECK, "input": "{{item.long}}" * 100}}
    result = await graded(grader_of({}), written, context_of("x", item={**ITEM, "long": "x" * 20_000}))
    assert result.passed is None


@pytest.mark.parametrize(("threshold", "passed"), [(0.83, True), (0.84, False)])
async def test_a_similarity_passes_from_its_threshold(
    grader_of: ScriptedGraders, threshold: float, passed: bool
) -> None:
    value = {"metric": "rouge_1", "input": "{{sample.output_text}}", "reference": "the cat is on the mat"}
    written = {"type": "text-similarity", "threshold": threshold, "value": value}
    result = await graded(grader_of({}), written, context_of("the cat sat on the mat"))
    assert (result.passed, result.score) == (passed, pytest.approx(5 / 6))


@pytest.mark.parametrize(("label", "passed"), [("good", True), ("bad", False)])
async def test_a_label_passes_if_it_is_one_of_the_passing_ones(
    grader_of: ScriptedGraders, label: str, passed: bool
) -> None:
    judge = grader_of({"reason": "it fits", "label": label})
    value = {"messages": JUDGE_MESSAGES, "labels": ["good", "bad"], "passingLabels": ["good"]}
    result = await graded(judge, {"type": "label-model", "value": value}, context_of("Laptop"))
    assert (result.passed, result.reason) == (passed, f"{label}: it fits")
    assert judge.user_messages == ["Is Laptop like Hardware?"]


async def test_a_label_that_does_not_exist_is_an_error(grader_of: ScriptedGraders) -> None:
    value = {"messages": JUDGE_MESSAGES, "labels": ["good", "bad"], "passingLabels": ["good"]}
    judge = grader_of({"reason": "it fits", "label": "other"})
    assert (await graded(judge, {"type": "label-model", "value": value}, context_of("Laptop"))).passed is None


@pytest.mark.parametrize(
    ("given", "threshold", "passed", "expected"),
    [(5, 0.5, True, 2 / 3), (4, 0.5, True, 0.5), (3, 0.5, False, 1 / 3), (3, None, False, 1 / 3), (4, None, True, 0.5)],
)
async def test_a_score_is_mapped_from_its_range(
    grader_of: ScriptedGraders, given: float, threshold: float | None, passed: bool, expected: float
) -> None:
    value = {"messages": JUDGE_MESSAGES, "range": [1, 7], "params": {"temperature": 0.3, "maxOutputTokens": 50}}
    written = {"type": "score-model", "value": value} | ({} if threshold is None else {"threshold": threshold})
    judge = grader_of({"reason": "so so", "score": given})
    result = await graded(judge, written, context_of("Laptop"))
    assert (result.passed, result.score) == (passed, pytest.approx(expected))
    assert result.reason == f"{given} of 1 to 7: so so"
    parameters = judge.requests[0].parameters
    assert (parameters.temperature, parameters.max_output_tokens) == (0.3, 50)


async def test_a_score_outside_of_its_range_is_an_error(grader_of: ScriptedGraders) -> None:
    judge = grader_of({"reason": "wow", "score": 8})
    written = {"type": "score-model", "value": {"messages": JUDGE_MESSAGES, "range": [1, 7]}}
    assert (await graded(judge, written, context_of("Laptop"))).passed is None


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"type": "string-check"}, "value"),
        ({"type": "string-check", "value": {**CHECK, "operation": "regex"}}, "value"),
        ({"type": "string-check", "value": {**CHECK, "input": 5}}, "value"),
        ({"type": "string-check", "value": {**CHECK, "input": "x" * 20_001}}, "value"),
        ({"type": "text-similarity", "value": {**CHECK}, "threshold": 0.5}, "value"),
        (
            {"type": "text-similarity", "value": {"metric": "bleu", "input": "a", "reference": "b"}},
            "threshold",
        ),
        ({"type": "label-model", "value": {"messages": [], "labels": ["a"], "passingLabels": ["a"]}}, "value"),
        (
            {"type": "label-model", "value": {"messages": JUDGE_MESSAGES, "labels": ["a"], "passingLabels": ["b"]}},
            "value",
        ),
        (
            {
                "type": "label-model",
                "value": {"messages": JUDGE_MESSAGES, "labels": ["a", "a"], "passingLabels": ["a"]},
            },
            "value",
        ),
        ({"type": "score-model", "value": {"messages": JUDGE_MESSAGES, "range": [2, 1]}}, "value"),
        ({"type": "score-model", "value": {"messages": JUDGE_MESSAGES, "params": {"stop": ["x"]}}}, "value"),
        ({"type": "score-model", "value": {"messages": [{"role": "robot", "content": "x"}]}}, "value"),
    ],
)
def test_invalid_values_are_refused_when_they_are_saved(written: dict[str, Any], field: str) -> None:
    assert [issue.field for issue in assertion_issues([written])] == [f"assertions.0.{field}"]


@pytest.mark.parametrize(
    "sample",
    [
        {"output_text": "Hardware", "output": [{"content": "other"}]},
        {"output": [{"role": "assistant", "content": "Hardware"}]},
        {"outputs": [{"role": "assistant", "content": "Hardware"}]},
        {"choices": [{"message": {"role": "assistant", "content": "Hardware"}}]},
    ],
)
async def test_the_text_of_a_recorded_sample_is_read_from_its_output(
    grader_of: ScriptedGraders, sample: dict[str, Any]
) -> None:
    context = context_of("something else", sample=sample)
    assert (await graded(grader_of({}), {"type": "string-check", "value": CHECK}, context)).passed is True


async def test_a_recorded_sample_without_text_is_empty(grader_of: ScriptedGraders) -> None:
    context = context_of("Hardware", sample={"outputs": "none", "choices": [5], "output": [{"content": None}]})
    assert (await graded(grader_of({}), {"type": "string-check", "value": CHECK}, context)).passed is False
