"""Every deterministic check, by outputs that pass and outputs that fail; `not-…` is the opposite."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core import sandbox
from cupel_core.domain.scoring.assertion_rules import ASSERT_SET, ASSERTION_KINDS, assertion_issues
from cupel_core.domain.scoring.assertions import COMPARISONS, Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.registry import GRADED_CHECKS
from cupel_core.scoring.score import CHECKS, score
from tests.in_one_test import in_one_test

PERSON = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}}}
DATED = {"properties": {"at": {"format": "date-time"}}}


GRADERS = GraderFactory(
    "ws_a", GraderConfig(), {}, ConcurrencyLimiter(), call_timeout_seconds=1.0, max_wait_seconds=0.0
)
"""Without accounts: no model can be called."""


async def check(written: dict[str, Any], output: str = "", **more: Any) -> AssertionResult:
    assert assertion_issues([written]) == ()
    scored = await score([Assertion.from_json(written)], AssertionContext(output, **more), GRADERS)
    return scored.results[0]


# type, value, threshold, an output that passes, one that fails
CASES: list[tuple[str, Any, float | None, str, str]] = [
    ("equals", "Paris", None, "Paris", "paris"),
    ("equals", 42, None, "42", "42.0"),
    ("equals", 42.0, None, "42", "42.0"),
    ("equals", True, None, "true", "True"),
    ("equals", {"a": [1, True]}, None, '{"a": [1.0, true]}', '{"a": [1, 1]}'),
    ("equals", {"a": 1}, None, '{"a": 1}', "not JSON"),
    ("equals", [1, 2], None, "[1,2]", "[1]"),
    ("contains", "cat", None, "a cat", "a Cat"),
    ("contains", 42, None, "it is 42.", "it is 43"),
    ("icontains", "CAT", None, "a cat", "a dog"),
    ("contains-any", "cat, dog", None, "a dog", "a bird"),
    ("contains-any", ["a, b"], None, "has a, b", "has a"),
    ("icontains-any", ["CAT", "DOG"], None, "a dog", "a bird"),
    ("contains-all", 'cat,"d, g"', None, "cat d, g", "cat"),
    ("icontains-all", ["CAT", "DOG"], None, "a dog, a cat", "a dog"),
    ("starts-with", "Dear", None, "Dear Ada", "My dear"),
    ("regex", r"^\d{3}$", None, "123", "123\n"),
    ("regex", r"(?<=no )way", None, "no way", "away"),
    ("regex", r"(?i)^yes\b", None, "YES!", "yesterday"),
    ("is-json", None, None, "[1]", "[1"),
    ("is-json", PERSON, None, '{"name": "Ada"}', '{"name": "ada"}'),
    ("is-json", '{"type": "array"}', None, "[]", "{}"),
    ("is-json", DATED, None, '{"at": "2026-01-01T00:00:00Z"}', '{"at": "2026-01-01"}'),
    ("is-json", {"properties": {"u": {"format": "uri"}}}, None, '{"u": "https://a.b/c"}', '{"u": "a b"}'),
    ("is-json", {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "string"}]}, None,
     '["a"]', "[1]"),
    ("contains-json", None, None, 'so: {"a": 1}.', "so: [1] {a}"),
    ("contains-json", PERSON, None, '{"name": 1} {"name": "Ada"}', '{"name": "ada"} {"x": {"name": "Ada"}}'),
    ("is-xml", None, None, "<a><b/></a>", "<a><b></a>"),
    ("is-xml", None, None, "<!DOCTYPE a SYSTEM 'a.dtd'><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    ("is-xml", "order.item, order.id", None, "<order><id/><item/></order>", "<order><id/></order>"),
    ("is-xml", ["a.b.1.c"], None, "<a><b/><b><c/></b></a>", "<a><b><c/></b></a>"),
    ("is-xml", {"requiredElements": ["x:a.b"]}, None, "<x:a xmlns:x='u'><x:b/></x:a>", "<a/>"),
    ("contains-xml", None, None, "look: <b>1</b>!", "1 < 2 and <b> 3 > 2"),
    ("contains-xml", ["b.c"], None, "<b/> <br> <b><c/></b>", "<b/> and <c/>"),
    ("contains-xml", ["b.c"], None, "<p><i>x</i><b><c/></b> and <q", "<p><b>1</b><!-- <b><c/></b> --><q"),
    ("contains-xml", None, None, "a<b <i/>", "<a><b></a>"),
    ("contains-xml", ["i"], None, '<b at=">"><b at="a>b"><i/>', '<i at=">" <b'),
    ("contains-xml", ["a.b"], None, "<a><!-- twenty characters, and > --><b/></a> -->", "<!-- > -->"),
    ("contains-html", None, None, "look: <p>1</p>", "1 < 2 and 3 > 2"),
    ("contains-html", None, None, "<x-card title='a'>", "<x-card>"),
    ("contains-html", None, None, "<!DOCTYPE\thtml>", "AT&amp;T"),
    ("levenshtein", "kitten", None, "sitting", "a different text"),
    ("levenshtein", "kitten", 2, "mitten", "sitting"),
    ("levenshtein", "", 1, "a", "ab"),
    ("word-count", 3, None, " one two\nthree ", "one two"),
    ("word-count", "3", None, "one two three", "one"),
    ("word-count", {"min": 2}, None, "one two", "one"),
    ("word-count", {"max": 1}, None, "one", "one two"),
    ("word-count", {"min": 1, "max": 2}, None, "one", "one two three"),
    ("rouge-n", "The cat sat on the mat", None, "the cat sat on a mat", "a dog ran"),
    ("rouge-n", "one two", 0.5, "one three", "three four"),
    ("bleu", "the cat sat on the mat", None, "the cat sat on the mat", "the dog sat"),
    ("bleu", ["a b c d e", "the cat sat on the mat"], 0.9, "The cat sat on the mat", "a b"),
    ("gleu", "the cat sat on the mat.", None, "The cat sat on the mat", "a cat sat down"),
    ("gleu", ["a b c", "the cat sat"], 0.9, "the cat sat...", "the cat ran"),
    ("gleu", "one two three four", 0.4, "one two three", "one two"),
    ("is-refusal", None, None, "I’m sorry, but I can't help with that.", "Sure: here it is."),
    ("is-refusal", None, None, "Well. As an AI, I have no opinion.", "An AI has none."),
    ("is-refusal", None, None, " \n", "no"),
]  # fmt: skip


def written(kind: str, value: Any, threshold: float | None) -> dict[str, Any]:
    fields = {"type": kind, "value": value, "threshold": threshold}
    return {name: field for name, field in fields.items() if field is not None}


@in_one_test(("kind", "value", "threshold", "good", "bad"), CASES)
async def test_a_check_passes_what_it_should(
    kind: str, value: Any, threshold: float | None, good: str, bad: str
) -> None:
    assertion = written(kind, value, threshold)
    assert (await check(assertion, good)).passed is True
    assert (await check(assertion, bad)).passed is False


@in_one_test(("kind", "value", "threshold", "good", "bad"), CASES)
async def test_its_opposite_fails_what_it_passes(
    kind: str, value: Any, threshold: float | None, good: str, bad: str
) -> None:
    assertion = written(f"not-{kind}", value, threshold)
    assert (await check(assertion, good)).passed is False
    assert (await check(assertion, bad)).passed is True


@given(st.sampled_from(CASES), st.text() | st.sampled_from([case[3] for case in CASES]))
async def test_an_opposite_passes_when_the_check_fails_and_scores_one_minus_its_score(case: Any, output: str) -> None:
    kind, value, threshold, _, _ = case
    plain = await check(written(kind, value, threshold), output)
    opposite = await check(written(f"not-{kind}", value, threshold), output)
    assert opposite.passed is not plain.passed
    assert plain.score is not None
    assert opposite.score == 1 - plain.score
    assert 0 <= plain.score <= 1


@pytest.mark.parametrize(
    ("assertion", "more", "passed"),
    [
        ({"type": "latency", "threshold": 100}, {"latency_ms": 100}, True),
        ({"type": "latency", "threshold": 100}, {"latency_ms": 101}, False),
        ({"type": "not-latency", "threshold": 100}, {"latency_ms": 101}, True),
        ({"type": "cost", "threshold": 0.01}, {"cost_usd": 0.01}, True),
        ({"type": "cost", "threshold": 0.01}, {"cost_usd": 0.011}, False),
        ({"type": "finish-reason", "value": "stop"}, {"finish_reason": "end_turn"}, True),
        ({"type": "finish-reason", "value": "length"}, {"finish_reason": "MAX_TOKENS"}, True),
        ({"type": "finish-reason", "value": "end_turn"}, {"finish_reason": "STOP"}, True),
        ({"type": "finish-reason", "value": "stop"}, {"finish_reason": "length"}, False),
    ],
)
async def test_latency_cost_and_finish_reason_are_compared(
    assertion: dict[str, Any], more: dict[str, Any], passed: bool
) -> None:
    assert (await check(assertion, "answer", **more)).passed is passed


@pytest.mark.parametrize(
    ("assertion", "output", "error"),
    [
        ({"type": "latency", "threshold": 1}, "", "the model's latency is unknown"),
        ({"type": "cost", "threshold": 1}, "", "the model's price is unknown"),
        ({"type": "not-finish-reason", "value": "stop"}, "", "the provider does not report"),
        ({"type": "contains", "value": "{{nothing}}"}, "", "unknown variable nothing"),
        ({"type": "regex", "value": "({{word}}"}, "", "its value is not a regular expression"),
        ({"type": "is-json", "value": "{{word}}"}, "{}", "its value must be a JSON Schema"),
        ({"type": "not-is-json", "value": {"$ref": "#/nowhere"}}, "{}", "the schema has an unresolvable reference"),
        ({"type": "is-json", "value": {"format": 3}}, "{}", "the schema is invalid"),
    ],
)
async def test_what_cannot_be_computed_is_an_error_and_not_a_failure(
    assertion: dict[str, Any], output: str, error: str
) -> None:
    result = await check(assertion, output, variables={"word": "a"})
    assert (result.passed, result.score, result.tag) == (None, None, None)
    assert result.error is not None
    assert error in result.error


async def test_an_expression_that_takes_too_long_is_stopped() -> None:
    result = await check({"type": "regex", "value": "^(a|a)*$"}, "a" * 40 + "b")
    assert result.error == "computing it takes more than 0.5 s of CPU time"


async def test_a_value_is_filled_in_from_the_variables() -> None:
    assert (await check({"type": "equals", "value": "{{city}}"}, "Paris", variables={"city": "Paris"})).passed is True


async def test_a_result_has_the_weight_the_metric_and_the_tag_of_a_failure() -> None:
    result = await check({"type": "is-json", "weight": 2, "metric": "form"}, "no")
    assert (result.type, result.weight, result.metric, result.tag) == ("is-json", 2, "form", "FORMAT_ERROR")
    assert (await check({"type": "is-json"}, "{}")).tag is None


async def test_reasons_describe_the_output() -> None:
    assert (
        await check({"type": "contains-all", "value": "a,b"}, "a")
    ).reason == 'the output has "a"; the output lacks "b"'
    assert (await check({"type": "word-count", "value": {"min": 1, "max": 2}}, "")).reason == (
        "the output has 0 words; expected 1 to 2"
    )
    assert (await check({"type": "word-count", "value": 2}, "one")).reason == "the output has 1 word; expected 2"
    assert (
        await check({"type": "levenshtein", "value": "abc"}, "abcd")
    ).reason == "the edit distance is 1; the limit is 5"


@pytest.mark.parametrize(
    ("threshold", "parts", "passed", "mean"),
    [
        (None, [("a", 1), ("b", 1)], True, 1.0),
        (None, [("a", 1), ("x", 1)], False, 0.5),
        (0.5, [("a", 1), ("x", 1)], True, 0.5),
        (0.5, [("a", 1), ("x", 2)], False, 1 / 3),
        (None, [("a", 1), ("x", 0)], True, 1.0),
    ],
)
async def test_a_set_passes_as_a_whole_or_by_its_threshold(
    threshold: float | None, parts: list[tuple[str, float]], passed: bool, mean: float
) -> None:
    inner = [{"type": "contains", "value": value, "weight": weight} for value, weight in parts]
    result = await check({"type": ASSERT_SET, "assert": inner, "threshold": threshold}, "a b")
    assert (result.passed, result.score) == (passed, pytest.approx(mean))
    assert [part.type for part in result.parts] == ["contains", "contains"]


async def test_a_set_with_what_cannot_be_computed_cannot_be_computed() -> None:
    inner = [{"type": "contains", "value": "a"}, {"type": "cost", "threshold": 1}]
    result = await check({"type": ASSERT_SET, "assert": inner}, "a")
    assert (result.passed, result.error) == (None, "could not be computed: cost: the model's price is unknown")


async def test_a_set_whose_parts_have_no_weight_passes_with_a_score_of_0() -> None:
    result = await check({"type": ASSERT_SET, "assert": [{"type": "equals", "value": "a", "weight": 0}]}, "b")
    assert (result.passed, result.score, result.weight) == (True, 0, 1)


async def test_outputs_made_to_be_slow_are_not() -> None:
    tags = ("<a>" * 30_000, "<a " * 30_000, "<a" * 40_000 + ">", "<a></b>" * 10_000, "<x><!-- <b>" * 8_000)
    for output in ("{" * 100_000, '{"a":' * 30_000, *tags):
        for kind in ("contains-json", "contains-xml", "is-json", "is-xml", "is-refusal"):
            assert (await check({"type": kind}, output)).passed is False


def test_every_kind_is_computed_somewhere() -> None:
    assert set(CHECKS) | set(GRADED_CHECKS) | {ASSERT_SET, *COMPARISONS} == set(ASSERTION_KINDS)


@pytest.mark.parametrize(
    ("assertion", "library"),
    [
        ({"type": "is-json", "value": {"type": "object"}}, "jsonschema"),
        ({"type": "contains-json", "value": {"type": "object"}}, "jsonschema"),
        ({"type": "is-valid-function-call"}, "jsonschema"),
        ({"type": "is-html"}, "tinyhtml5"),
    ],
)
async def test_a_library_is_loaded_before_the_time_of_a_check_is_limited(
    assertion: dict[str, Any], library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = []

    async def run(task: str, *arguments: object) -> tuple[bool, float, str]:
        tasks.append(task)
        return True, 1.0, ""

    monkeypatch.setattr(sandbox, "run", run)
    await check(assertion, "{}")
    module = tasks[0].partition(":")[0]
    script = f"import sys, {module} as module; assert module.compute and {library!r} in sys.modules"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script], check=True, timeout=60)
