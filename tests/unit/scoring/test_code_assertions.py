"""What code of assertions may return, and what it is given."""

from typing import Any

import pytest

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import build_scoring
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CodeFailed
from cupel_core.scoring.code_assertions import Code, read_result
from cupel_core.scoring.score import score
from tests.unit.scoring.conftest import ScriptedGrader

CONTEXT = AssertionContext("4", variables={"x": 2}, name="sum", metadata={"topic": "sums"}, latency_ms=5)


class RecordedCode:
    """Returns one value, and records what it was called with."""

    def __init__(self, returned: Any) -> None:
        self.returned = returned
        self.calls: list[tuple[Code, list[Any]]] = []

    async def __call__(self, code: Code, arguments: list[Any]) -> Any:
        self.calls.append((code, arguments))
        return self.returned


async def scored(assertion: dict[str, Any], returned: Any) -> tuple[AssertionResult, RecordedCode]:
    run = RecordedCode(returned)
    scores = await score([Assertion.from_json(assertion)], CONTEXT, ScriptedGrader("").graders(), code_runner=run)
    return scores.results[0], run


@pytest.mark.parametrize(
    ("returned", "threshold", "passed", "score"),
    [
        (True, None, True, 1),
        (False, None, False, 0),
        (0.5, None, True, 0.5),
        (0, None, False, 0),
        (0.5, 0.6, False, 0.5),
        (0.6, 0.6, True, 0.6),
        (7, 5, True, 1),
        (-1, None, False, 0),
        ("True", None, True, 1),
        ("0.25", None, True, 0.25),
        ('{"pass": true, "score": 0.5, "reason": "good"}', None, True, 0.5),
        ({"pass_": True, "score": 0.5, "reason": "good"}, None, True, 0.5),
        ({"pass": True, "score": 0.5, "reason": "good"}, 0.6, False, 0.5),
        ({"pass": False, "reason": "bad"}, None, False, 0),
        ({"pass": False, "score": 0.9}, None, False, 0),
    ],
)
def test_what_python_returns_is_read_as_in_promptfoo(
    returned: Any, threshold: float | None, passed: bool, score: float
) -> None:
    result = read_result(returned, threshold, "python")
    assert (result.passed, result.score) == (passed, score)


@pytest.mark.parametrize(
    "returned",
    [
        None,
        "yes",
        [1],
        {"score": 1},
        {"pass": "yes"},
        float("nan"),
        {"pass": True, "score": 1},
        {"pass": True, "reason": ""},
    ],
)
def test_anything_else_is_no_result(returned: Any) -> None:
    with pytest.raises(CodeFailed, match="the code returned"):
        read_result(returned, None, "python")


def test_a_threshold_is_of_numbers_only_in_javascript() -> None:
    assert read_result({"pass": True, "score": 0.5, "reason": ""}, 0.6, "javascript").passed
    with pytest.raises(CodeFailed):
        read_result("true", None, "javascript")


async def test_components_and_named_scores_are_parts_of_the_result() -> None:
    component = {"pass": False, "score": 0.2, "reason": "too long", "assertion": {"type": "length"}}
    returned = {
        "pass": True,
        "score": 1,
        "reason": "fine",
        "component_results": [component],
        "named_scores": {"f1": 0.5},
    }
    result, _ = await scored({"type": "python", "value": "x"}, returned)
    assert [(part.type, part.passed, part.score) for part in result.parts] == [
        ("length", False, 0.2),
        ("python", True, 0.5),
    ]
    assert build_scoring(None, None, [result]).metrics == {"f1": 0.5}


async def test_code_is_given_the_answer_and_its_context() -> None:
    _, run = await scored({"type": "python", "value": "output == '4'", "config": {"digits": 1}}, True)
    [(code, [output, context])] = run.calls
    assert (code, output) == (Code("python", text="output == '4'"), "4")
    assert (context["vars"], context["config"]) == ({"x": 2}, {"digits": 1})
    assert context["test"] == {
        "description": "sum",
        "vars": {"x": 2},
        "metadata": {"topic": "sums"},
        "assert": [{"type": "python", "value": "output == '4'", "config": {"digits": 1}}],
        "options": {},
    }
    assert context["providerResponse"]["latencyMs"] == 5


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("python", "file://a/check.py", Code("python", file="a/check.py", function="get_assert")),
        ("python", "file://check.py:Checks.short", Code("python", file="check.py", function="Checks.short")),
        ("javascript", "file://check.mjs", Code("javascript", file="check.mjs")),
        ("javascript", "file://check.js:short", Code("javascript", file="check.js", function="short")),
    ],
)
async def test_code_may_be_in_a_file(kind: str, value: str, code: Code) -> None:
    _, run = await scored({"type": kind, "value": value}, True)
    assert run.calls[0][0] == code


async def test_negated_code_passes_when_the_code_fails() -> None:
    result, _ = await scored({"type": "not-python", "value": "x"}, False)
    assert (result.passed, result.score) == (True, 1)


async def test_without_a_runner_code_is_not_computed() -> None:
    scores = await score([Assertion("python", value="True")], CONTEXT, ScriptedGrader("").graders())
    assert scores.results[0].passed is None
    assert "--allow-code" in (scores.results[0].error or "")


async def test_a_scoring_function_decides_about_a_set() -> None:
    parts = [{"type": "contains", "value": "4", "metric": "right"}, {"type": "contains", "value": "x"}]
    assertion = {"type": "assert-set", "config": {"scoringFunction": "file://s.py"}, "threshold": 0.5, "assert": parts}
    result, run = await scored(assertion, {"pass": True, "score": 0.75, "reason": "weighted"})
    assert (result.passed, result.score, result.reason, len(result.parts)) == (True, 0.75, "weighted", 2)
    [(code, [metrics, context])] = run.calls
    assert (code.function, metrics, context["threshold"]) == ("func", {"right": 1.0}, 0.5)
    assert [component["pass"] for component in context["componentResults"]] == [True, False]


async def test_a_scoring_function_without_a_result_is_a_failure() -> None:
    assertion = {"type": "assert-set", "config": {"scoringFunction": "file://s.js"}, "assert": [{"type": "is-json"}]}
    result, _ = await scored(assertion, True)
    assert (result.passed, result.score, result.error) == (False, 0.0, None)
    assert result.reason == "a scoring function returns an object with pass, score and reason"
