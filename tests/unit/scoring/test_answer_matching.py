"""Choices, matches and numbers, as Inspect and OpenAI's evals read them; results of Inspect 0.3.285."""

from time import perf_counter
from typing import Any

import pytest

from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.numerals import find_numbers, read_numeral
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.score import score
from tests.in_one_test import in_one_test
from tests.unit.scoring.conftest import ScriptedGrader


async def passes(output: str, **written: Any) -> bool | None:
    assert assertion_issues([written]) == ()
    scored = await score([Assertion.from_json(written)], AssertionContext(output), ScriptedGrader("").graders())
    return scored.results[0].passed


@in_one_test(
    ("output", "target", "passed"),
    [
        ("ANSWER: B", "B", True),
        ("answer: b.", "b", True),
        ("ANSWER: (B)", "B", True),
        ("ANSWER: **B**", "B", True),
        ("**ANSWER: B**", "B", True),
        ("ANSWER: $B$", "B", True),
        ("ANSWER: B) blue", "B", True),
        ("ANSWER: B, C", "B", False),
        ("ANSWER: B because it is blue", "B", False),
        ("ANSWER: B A", "B", False),
        ("ANSWER: Blue", "B", False),
        ("I first thought ANSWER: B\nbut ANSWER: D", "B", False),
        ("ANSWER: D\nANSWER: B", "B", True),
        ("Could be ANSWER: A.\n\nANSWER: B", "B", True),
        ("The answer is B", "B", False),
        ("ANSWER: \u0412", "B", False),
        ("ANSWER: E", "B", False),
        ("ANSWER: C, A", ["A", "C"], True),
        ("ANSWER: A and C", ["A", "C"], True),
        ("ANSWER: CA", "A,C", True),
        ("ANSWER: A, and C", "AC", True),
        ("ANSWER: (A), (C)", ["A", "C"], True),
        ("ANSWER: A,,C", ["A", "C"], True),
        ("ANSWER: A,B,C", ["A", "C"], False),
        ("ANSWER: A or C", ["A", "C"], False),
        ("ANSWER: A/C", ["A", "C"], False),
    ],
)
async def test_choices_are_read_after_the_last_marker(output: str, target: Any, passed: bool) -> None:
    assert await passes(output, type="choice", value={"target": target, "choices": 4}) is passed


async def test_choices_after_z_are_numbers() -> None:
    assert await passes("ANSWER: 2", type="choice", value={"target": "2", "choices": 30})
    assert not await passes("ANSWER: 5", type="choice", value={"target": "2", "choices": 30})


@pytest.mark.parametrize(
    "value",
    [
        None,
        "B",
        {"target": "B"},
        {"target": "E", "choices": 4},
        {"target": [], "choices": 4},
        {"target": "?", "choices": 4},
        {"target": "B", "choices": 0},
        {"target": "0", "choices": 30},
    ],
)
def test_a_target_must_be_among_the_choices(value: Any) -> None:
    assert assertion_issues([{"type": "choice", "value": value}])


@pytest.mark.parametrize(
    ("output", "target", "passed"),
    [
        ("The answer is Paris.", "Paris", True),
        ("yes", "Yes.", True),
        ("A", "A)", True),
        ("`Paris`]", "Paris", True),
        ("Paris\u00a0", "Paris", True),
        (
            "\u041e\u0442\u0432\u0435\u0442: \u041c\u041e\u0421\u041a\u0412\u0410",
            "\u041c\u043e\u0441\u043a\u0432\u0430",
            True,
        ),
        ("STRASSE", "stra\u00dfe", True),
        ("Paris (France)", "Paris", False),
        ("Paris\u201d", "Paris", False),
        ("U.S.A.", "USA", False),
    ],
)
async def test_a_match_ignores_case_and_punctuation_around_both(output: str, target: str, passed: bool) -> None:
    assert await passes(output, type="match", value=target) is passed
    assert await passes(output, type="match", value=["nothing", target]) is passed


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ({}, False),
        ({"location": "begin"}, True),
        ({"location": "any"}, True),
        ({"location": "exact"}, False),
        ({"location": "begin", "ignoreCase": False}, False),
    ],
)
async def test_the_location_of_a_match_is_configured(config: dict[str, Any], passed: bool) -> None:
    assert await passes("Paris, of course", type="match", value="paris", config=config) is passed


@pytest.mark.parametrize(
    ("output", "target", "passed"),
    [
        ("25", "5", False),
        ("5.0", "5", True),
        ("$1,000.00", "1000", True),
        ("**1,000**.", "1000", True),
        ("60%", "60", False),
        ("60%", "60%", True),
        ("\u00bd", "0.5", True),
        ("\u0664\u0662", "42", True),
        ("\u4e00\u5343\u4e8c\u767e", "1200", True),
        ("\u22123", "-3", True),
        ("42 is it, not 43", "42", False),
        ("the answer is x", "X", True),
    ],
)
async def test_numeric_matches_compare_the_last_number(output: str, target: str, passed: bool) -> None:
    assert await passes(output, type="match", value=target, config={"numeric": True}) is passed


@pytest.mark.parametrize(
    ("output", "target", "passed"),
    [
        ("The Paris!", "paris", True),
        ("3.0", "3", True),
        ("don't know", "dont know", True),
        ("state-of-the-art", "state of art", True),
        ("the a an", "the", False),
        ("It is Paris", "Paris", False),
    ],
)
async def test_exact_matches_ignore_case_articles_and_punctuation(output: str, target: str, passed: bool) -> None:
    assert await passes(output, type="exact-match", value=target) is passed


@pytest.mark.parametrize(
    ("output", "target", "passed"),
    [
        ("It is the Paris!", "paris", True),
        ("par", "Paris", True),
        ("", "Paris", False),
        ("the", "a", True),
        ("Rome", "Paris", False),
    ],
)
async def test_fuzzy_matches_are_within_each_other(output: str, target: str, passed: bool) -> None:
    assert await passes(output, type="fuzzy-match", value=[target]) is passed


@pytest.mark.parametrize(
    ("output", "target", "passed"),
    [
        ('{"b": 1, "a": [1.0, "x"]}', '{"a": [1, "x"], "b": 1}', True),
        ('{"a": 1, "b": 2}', '{"a": 1}', False),
        ('{"a": null}', '{"a": null}', False),
        ("[1]", "[1, 2]", False),
        ("no JSON", "{}", False),
        ("{}", "{}", True),
    ],
)
async def test_json_matches_compare_every_part(output: str, target: str, passed: bool) -> None:
    assert await passes(output, type="json-match", value=target) is passed


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("The total is 1,000.50 dollars", [1000.5]),
        ("-$5, $-5, \u22125 and \u2013 5", [-5, -5, -5, 5]),
        ("10-20", [10, 20]),
        ("GPT-4, x2, v2 and 1.2.3", []),
        ("60 % or 60%", [60, 60]),
        ("1.2e3, 1.2 \u00d7 10^3, 1.5\u00d710\u207b\u00b3, 10^3", [1200, 1200, 0.0015, 1000]),
        ("$6.02 \\times 10^{23}$ and \\boxed{7}", [6.02e23, 7]),
        ("1{,}000 and \\$20", [1000, 20]),
        ("1,5; 1.234,56; 1.000.000; 12,34,567", [1.5, 1234.56, 1000000, 1234567]),
        ("1.234.567,89 and 12.345.678,9 but 1.2.3,5", [1234567.89, 12345678.9, 5]),
        ("1'000, 1_000, 1\u202f000", [1000, 1000, 1000]),
        ("3\u00bd and \u00bd", [3.5, 0.5]),
        ("\u0664\u0662 and \uff11\uff12", [42, 12]),
        ("5 million, EUR42, 42kg", [5000000, 42, 42]),
        ("2024-11-28", [2024, 11, 28]),
        ("3, 4, 5.", [3, 4, 5]),
        ("1e400 and nothing", []),
    ],
)
def test_numbers_are_found_without_units(text: str, numbers: list[float]) -> None:
    assert find_numbers(text) == numbers


@pytest.mark.parametrize(
    ("output", "value", "config", "passed"),
    [
        ("2 apples cost $1,000.00", 1000, None, True),
        ("It is 5, not 25", 5, None, False),
        ("It is 5, not 25", 5, {"location": "begin"}, True),
        ("5 of 25 are", "5", {"location": "any"}, True),
        ("5 of 25 are", "5", {"location": "exact"}, False),
        ("about 41.6", 42, {"tolerance": 0.5}, True),
        ("about 41.4", 42, {"tolerance": 0.5}, False),
        ("about 41.6", 42, {"tolerance": "1%"}, True),
        ("about 41.5", 42, {"tolerance": "1%"}, False),
        ("0.1 + 0.2 = 0.30000000000000004", 0.3, None, True),
        ("-5", 5, {"tolerance": 1}, False),
        ("no number", 5, None, False),
        ("60 %", "60%", None, True),
    ],
)
async def test_numbers_are_compared_within_a_tolerance(output: str, value: Any, config: Any, passed: bool) -> None:
    written = {"type": "number-equals", "value": value, **({"config": config} if config else {})}
    assert await passes(output, **written) is passed
    assert await passes(output, **{**written, "type": "not-number-equals"}) is not passed


@pytest.mark.parametrize(
    "written",
    [
        {"type": "number-equals"},
        {"type": "number-equals", "value": "none"},
        {"type": "number-equals", "value": "1 or 2"},
        {"type": "number-equals", "value": True},
        {"type": "number-equals", "value": 10**400},
        {"type": "number-equals", "value": "1" * 1_001},
        {"type": "number-equals", "value": 1, "config": {"tolerance": 10**400}},
        {"type": "number-equals", "value": 1, "config": {"tolerance": []}},
        {"type": "contains", "value": 10**400},
        {"type": "is-json", "value": {"maxLength": 10**400}},
        {"type": "number-equals", "value": 1, "config": {"tolerance": -1}},
        {"type": "number-equals", "value": 1, "config": {"tolerance": "x%"}},
        {"type": "number-equals", "value": 1, "config": {"tolerance": True}},
        {"type": "number-equals", "value": 1, "config": {"tolerances": 1}},
        {"type": "match", "value": "a", "config": {"location": "middle"}},
        {"type": "match", "value": "a", "config": {"numeric": 1}},
        {"type": "match", "value": 5},
        {"type": "json-match", "value": "{"},
    ],
)
def test_invalid_values_are_refused(written: dict[str, Any]) -> None:
    assert assertion_issues([written])


def test_what_is_no_number_has_no_value() -> None:
    assert [read_numeral(word) for word in ("nan", "inf", "", "x", "-", "1 2x", "\u00bd\u00bd", "2\u207b")] == [
        None
    ] * 8


async def test_a_long_answer_is_matched_in_the_sandbox() -> None:
    spaces = "$a" + " " * 20_000
    assert await passes(f"{spaces}\nANSWER: B", type="choice", value={"target": "B", "choices": 2}) in (True, None)
    assert await passes("1" * 5_000 + " 7", type="number-equals", value=7)


def test_many_digits_are_read_in_time() -> None:
    started = perf_counter()
    assert len(find_numbers("1" * 100_000 + "!")) <= 1
    assert perf_counter() - started < 2
