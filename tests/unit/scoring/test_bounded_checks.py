"""No assertion stops the process that computes it, whatever its value and the output are."""

import time
from typing import Any

import pytest

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.checks import MAX_WORK, work_of
from cupel_core.scoring.score import score
from tests.unit.scoring.conftest import ScriptedGrader

DOUBLING = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}


async def _check(assertion: dict[str, Any], output: str) -> tuple[AssertionResult, float]:
    """The result, and the CPU time it took in this process."""
    started_at = time.process_time()
    scores = await score([Assertion.from_json(assertion)], AssertionContext(output), ScriptedGrader("").graders())
    return scores.results[0], time.process_time() - started_at


@pytest.mark.parametrize(
    ("assertion", "output"),
    [
        ({"type": "regex", "value": "^(a|a)*$"}, "a" * 60 + "b"),
        ({"type": "regex", "value": "(?:ab){99999999}"}, "ab"),
        ({"type": "regex", "value": ".*.*.*.*x.*y"}, "x" * 900_000),
        ({"type": "is-json", "value": {"patternProperties": {"^(a|a)*$": {}}}}, '{"' + "a" * 60 + 'b":1}'),
        ({"type": "is-json", "value": {"pattern": "^(a|a)*$"}}, '"' + "a" * 60 + 'b"'),
        ({"type": "is-json", "value": {"$ref": "#/definitions/d0", "definitions": DOUBLING}}, "{}"),
        ({"type": "contains-json", "value": {"uniqueItems": True}}, "{" * 400_000),
        ({"type": "contains-xml", "value": "a.b"}, "<a" * 450_000),
        ({"type": "contains-html"}, "<a " * 300_000),
        ({"type": "levenshtein", "value": "ab" * 100_000, "threshold": 1e300}, "ba" * 400_000),
        ({"type": "bleu", "value": ["word"] * 20_000}, "word " * 100_000),
        ({"type": "rouge-n", "value": "a"}, "a.)]" * 200_000),
        ({"type": "contains-any", "value": ["x"] * 60_000}, "y" * 900_000),
        ({"type": "contains", "value": "{{v}}" * 40_000}, "y"),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
async def test_a_check_takes_little_time_in_this_process(assertion: dict[str, Any], output: str) -> None:
    result, seconds = await _check(assertion, output)
    assert seconds < 0.5
    assert len(result.reason) <= 5_000


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "regex", "value": "^(a|a)*$"},
        {"type": "is-json", "value": {"patternProperties": {"^(a|a)*$": {}}}},
        {"type": "not-is-json", "value": {"$ref": "#/definitions/d0", "definitions": DOUBLING}},
    ],
    ids=["regex", "patternProperties", "allOf"],
)
async def test_a_check_beyond_its_limits_is_an_error_and_no_failure(assertion: dict[str, Any]) -> None:
    output = "a" * 60 + "b" if assertion["type"] == "regex" else '{"' + "a" * 60 + 'b":1}'
    result, _ = await _check(assertion, output)
    assert (result.passed, result.error) == (None, "computing it takes more than 0.5 s of CPU time")


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "regex", "value": r"(?i)rating:\s*[1-5]"},
        {"type": "contains-any", "value": ["yes", "no"]},
        {"type": "levenshtein", "value": "a" * 2_000},
        {"type": "rouge-n", "value": "a " * 1_000},
        {"type": "is-json"},
    ],
    ids=lambda assertion: str(assertion["type"]),
)
def test_an_ordinary_check_is_computed_here(assertion: dict[str, Any]) -> None:
    assert work_of(Assertion.from_json(assertion), "word " * 2_000) <= MAX_WORK


async def test_a_variable_that_is_repeated_makes_no_value_of_any_length() -> None:
    context = AssertionContext("y", variables={"v": "x" * 100_000})
    scores = await score([Assertion("contains", value="{{v}}" * 40_000)], context, ScriptedGrader("").graders())
    assert scores.results[0].error == "its variables make it longer than 1,000,000 characters"
