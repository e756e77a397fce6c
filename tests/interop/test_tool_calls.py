"""Checks of called functions by the real promptfoo, and by Cupel of the same calls."""

import json
from itertools import product
from typing import Any

import pytest

from cupel_core.domain.codec import decode_all
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import Tool, ToolCall
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.score import score
from tests.interop import tools

type Json = dict[str, Any]

GRADERS = GraderFactory("", GraderConfig(), {}, ConcurrencyLimiter(), call_timeout_seconds=1.0, max_wait_seconds=0.0)
WEATHER: Json = {
    "name": "weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
TIME: Json = {"name": "time", "parameters": {"type": "object", "properties": {"zone": {"enum": ["CET", "UTC"]}}}}
CALLS: list[Json] = [
    {"name": "weather", "args": {"city": "Paris"}},
    {"name": "weather", "args": {"city": "Paris", "days": 2}},
    {"name": "weather", "args": {"city": 3}},
    {"name": "weather", "args": {"days": 2}},
    {"name": "time", "args": {"zone": "CET"}},
    {"name": "time", "args": {"zone": "PST"}},
    {"name": "wether", "args": {"city": "Paris"}},
]
SETS = [[call] for call in CALLS] + [[CALLS[0], CALLS[4]], [CALLS[4], CALLS[0], CALLS[1]], [CALLS[0], CALLS[6]]]


def openai(call: Json) -> Json:
    return {"name": call["name"], "arguments": json.dumps(call["args"])}


def validity() -> list[Json]:
    kind = "is-valid-openai-tools-call"
    outputs: list[Any] = [[{"type": "function", "function": openai(call)} for call in calls] for calls in SETS]
    outputs += [{"tool_calls": outputs[0]}, [], {}, [{"function": {"name": "weather"}}], [outputs[0][0], {}]]
    outputs += [[{"function": {"name": "weather", "arguments": "{nonsense"}}], json.dumps(outputs[0]), "no call"]
    cases = [{"assertion": {"type": kind}, "output": output} for output in outputs]
    single = [openai(call) for call in CALLS]
    single += [{"function_call": single[0]}, {"name": "weather"}, {}]
    for kind in ("is-valid-openai-function-call", "is-valid-function-call"):
        cases += [{"assertion": {"type": kind}, "output": output} for output in single]
    google: list[Any] = [[{"functionCall": call} for call in calls] for calls in SETS]
    google += [[{"text": "Wait."}, google[0][0]], json.dumps(google[1]), {"toolCall": {"functionCalls": CALLS[:1]}}]
    return cases + [
        {"assertion": {"type": kind}, "output": output, "provider": "google"} for output in [*google, "no call"]
    ]


def f1() -> list[Json]:
    outputs: list[Any] = [
        [{"function": openai(CALLS[0])}, {"function": openai(CALLS[4])}],
        {"tool_calls": [{"function": openai(CALLS[0])}, {"name": "time"}]},
        [{"type": "text", "text": "a"}, {"type": "tool_use", "name": "weather", "input": {}}],
        {"type": "tool_use", "name": "time"},
        [{"functionCall": {"name": "weather"}}, {"functionCall": {"name": "time"}}],
        {"functionCall": {"name": "weather"}},
        {"toolCall": {"functionCalls": [{"name": "time"}, {}]}},
        {"type": "function_call", "name": "weather"},
        [{"name": "weather"}, {"name": "weather"}, "time", 3],
        {"name": "weather"},
        "weather, time",
        'I look.\n\n{"type": "tool_use", "name": "weather"}\n\n{"type": "tool_use", "name": "time"}',
        'I look: {"type": "tool_use", "name": "weather"}',
        '{\n  "type": "tool_use",\n  "name": "weather"\n} and so on',
        '```json\n{"type": "tool_use", "name": "weather"}\n```\n[{"name": "time"}]',
        '{"type": "tool_use", "name": ',
    ]
    values: list[Any] = ["weather", "weather, time", ["weather", "time", "pay"], ["pay"]]
    return [
        {"assertion": {"type": "tool-call-f1", "value": value, "threshold": limit}, "output": output}
        for output, value, limit in product(outputs, values, (1, 0.5))
    ]


def trajectories() -> list[Json]:
    used: list[Any] = ["weather", "WEATHER", "*e*", "w?ather", "pay", ["weather", "time"], ["pay", "steal"]]
    used += [{"name": "weather", "min": 2}, {"pattern": "*", "max": 1}, {"name": "pay", "min": 0}, ["weather", "pay"]]
    arguments = [
        {"args": {"city": "Paris"}},
        {"args": {"city": "Paris"}, "mode": "exact"},
        {"args": {"city": "Paris"}, "mode": "exact", "defaults": {"days": 2}},
        {"args": {"city": "Paris"}, "mode": "exact", "ignore": ["d*"]},
        {"arguments": {"city": "Rome"}, "ignore": "city"},
        {"args": {}},
    ]
    sequences: list[Any] = [
        ["time", "weather"],
        ["weather", "time"],
        ["weather"],
        [{"name": "t*"}, "weather", "weather"],
    ]
    sequences += [{"mode": "exact", "steps": ["time", "weather", "weather"]}, {"steps": ["weather", "weather"]}]
    counts = [
        {"type": "tool", "max": 1},
        {"type": ["tool", "message"], "min": 2},
        {"name": "weather", "min": 1, "max": 1},
    ]
    values = [
        *(("tool-used", value) for value in used),
        *(("tool-args-match", {"name": "weather", **value}) for value in arguments),
        *(("tool-sequence", value) for value in sequences),
        *(("step-count", value) for value in counts),
    ]
    return [
        {"assertion": {"type": f"{negation}trajectory:{kind}", "value": value}, "calls": calls}
        for (kind, value), calls, negation in product(values, [[], *SETS], ("", "not-"))
    ]


async def by_cupel(case: Json) -> Json:
    assert assertion_issues([case["assertion"]]) == ()
    made = enumerate(case.get("calls", []))
    calls = tuple(ToolCall(f"c{number}", each["name"], json.dumps(each["args"])) for number, each in made)
    output = case.get("output", "")
    context = AssertionContext(
        output if isinstance(output, str) else json.dumps(output),
        (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "", calls)),
        value=None if isinstance(output, str) else output,
        is_transformed="output" in case,
        tools=decode_all(Tool, (WEATHER, TIME)),
    )
    result = (await score([Assertion.from_json(case["assertion"])], context, GRADERS)).results[0]
    return {"pass": result.passed, "score": result.score}


CASES = [*validity(), *f1(), *trajectories()]


@pytest.fixture(scope="module")
def by_promptfoo(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    return tools.promptfoo_tool_calls(tmp_path_factory.mktemp("cases"), {"tools": [WEATHER, TIME], "cases": CASES})


async def test_both_tools_agree_about_calls(by_promptfoo: list[Json]) -> None:
    found = [await by_cupel(case) for case in CASES]
    pairs = zip(CASES, by_promptfoo, found, strict=True)
    assert [(case, theirs, ours) for case, theirs, ours in pairs if theirs != ours] == []


def test_every_type_passes_and_fails(by_promptfoo: list[Json]) -> None:
    outcomes = {(case["assertion"]["type"], each["pass"]) for case, each in zip(CASES, by_promptfoo, strict=True)}
    assert len(outcomes) == 2 * len({kind for kind, _ in outcomes})


async def test_recorded_calls_are_as_valid_as_in_promptfoos_output(by_promptfoo: list[Json]) -> None:
    kind = {"type": "is-valid-openai-tools-call"}
    assert [await by_cupel({"assertion": kind, "calls": calls}) for calls in SETS] == by_promptfoo[: len(SETS)]
