"""Metrics computed from others: promptfoo's arithmetic, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.definitions import Content, content_errors
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.derived_metrics import (
    DerivedMetric,
    WeightedMetrics,
    derive,
    expression_issue,
    metrics_of,
)
from cupel_core.domain.scoring.scores import column_scores
from cupel_core.domain.scoring.scoring import Scoring, build_scoring

SUMS = {"tp": 6.0, "fp": 2.0, "fn": 3.0, "none": 0.0}


def value_of(expression: str) -> float | None:
    assert expression_issue(expression) is None
    return derive([DerivedMetric("x", expression)], SUMS, 4).get("x")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("tp / (tp + fp)", 0.75),
        ("tp / __count", 1.5),
        ("1 + 2 * 3 - 4 / 2", 5),
        ("-2 ^ 2", -4),
        ("2 ^ 3 ^ 2", 512),
        ("round(2.5) + round(-3.5)", -1),
        ("2 ^ -1", 0.5),
        ("7 % 4 + .5e1", 8),
        ("none > 0 ? tp / none : -1", -1),
        ("tp >= 6 ? fp == 2 ? 1 : 2 : 3", 1),
        ("sqrt(abs(-4)) + max(tp, fp, 1) + min(tp) + round(1.6) + pow(2, 2)", 20),
        ("tp != 6", 0),
    ],
)
def test_an_expression_is_evaluated_on_sums(expression: str, value: float) -> None:
    assert value_of(expression) == pytest.approx(value)


@pytest.mark.parametrize(
    "expression", ["tp / none", "missing + 1", "log(none)", "(-1) ^ 0.5", "9 ^ 9 ^ 9", "exp(9999)"]
)
def test_what_has_no_value_is_omitted(expression: str) -> None:
    assert value_of(expression) is None


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "tp +",
        "tp fp",
        "(tp",
        "tp.constructor",
        "'x'",
        "import('fs')",
        "f(x) = x",
        "sqrt(1, 2)",
        "pow(1)",
        "1 ? 2",
        "(" * 60 + "1" + ")" * 60,
        "-" * 60 + "1",
        "1" * 501,
    ],
)
def test_anything_else_is_an_issue(expression: str) -> None:
    assert expression_issue(expression)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_an_issue(text: str) -> None:
    if expression_issue(text) is None:
        derive([DerivedMetric("x", text)], SUMS, 4)


def test_a_metric_may_use_those_before_it() -> None:
    metrics = [
        DerivedMetric("precision", "tp / (tp + fp)"),
        DerivedMetric("recall", "tp / (tp + fn)"),
        DerivedMetric("f1", "2 * precision * recall / (precision + recall)"),
    ]
    assert derive(metrics, SUMS, 4)["f1"] == pytest.approx(12 / 17)


def test_the_scores_of_a_model_contain_derived_metrics() -> None:
    plan = Plan(plain_targets("sim/a"), (3,))
    outcomes = [
        CountedOutcome(n, True, success=True, metrics={"tp": float(n + 1), "fp": 1.0}) for n in range(plan.total)
    ]
    counts = RunCounts(plan, scenario_cases(range(3)), count(plan, range(plan.total), outcomes))
    derived = [DerivedMetric("precision", "tp / (tp + fp)"), DerivedMetric("mean", "tp / __count")]
    scores = column_scores(0, counts, 1, derived)
    assert dict(scores.metrics) == {"fp": 1.0, "tp": 2.0, "precision": pytest.approx(6 / 9), "mean": 2.0}


@pytest.mark.parametrize(
    ("metrics", "field"),
    [
        ([("a", "1"), ("a", "2")], "derivedMetrics.1.name"),
        ([(" ", "1")], "derivedMetrics.0.name"),
        ([("a", "b +")], "derivedMetrics.0.value"),
    ],
)
def test_invalid_derived_metrics_are_named(metrics: list[tuple[str, str]], field: str) -> None:
    content = Content(derived_metrics=tuple(DerivedMetric(*each) for each in metrics))
    assert [issue.field for issue in content_errors(content)] == [field]
    assert Content.from_json(content.to_json()) == content


def scored(*results: AssertionResult) -> Scoring:
    return build_scoring(None, None, results)


def result(metric: str, score: float, weight: float = 1) -> AssertionResult:
    return AssertionResult("contains", score > 0, score, "", weight, metric)


def test_derived_metrics_sum_scores_by_their_weights_as_in_promptfoo() -> None:
    scorings = [
        scored(result("m", 1), result("m", 0), result("zero", 0), result("two", 1)),
        scored(result("m", 1, weight=3), result("m", 1)),
        scored(AssertionResult("equals", True, 1.0, "")),
    ]
    derived = [DerivedMetric("sum", "m"), DerivedMetric("mean", "m / __count"), DerivedMetric("next", "two + 1")]
    expected = {"m": 0.75, "two": 1.0, "zero": 0.0, "sum": 5.0, "mean": pytest.approx(5 / 3), "next": 2.0}
    assert metrics_of([WeightedMetrics(each.metrics, each.metric_weights) for each in scorings], derived) == expected
    plan = Plan(plain_targets("sim/a"), (3,))
    stored = [decode(Scoring, encode(each)) for each in scorings[1:]]
    read_again = [Scoring.from_digest(scorings[0].digest()), *stored]
    outcomes = [
        CountedOutcome(n, True, success=True, metrics=each.metrics, metric_weights=each.metric_weights)
        for n, each in enumerate(read_again)
    ]
    first, rest = ColumnTotals(), ColumnTotals()
    for totals, outcome in zip((first, rest, rest), outcomes, strict=True):
        totals.add(outcome)
    column = ColumnTotals.from_json(first.to_json())
    column.merge(rest)
    assert column.metric_sums == {"m": 5.0, "two": 1.0, "zero": 0.0}
    counts = RunCounts(plan, scenario_cases(range(3)), count(plan, range(plan.total), outcomes))
    assert dict(column_scores(0, counts, 1, derived).metrics) == expected


def test_the_weight_of_a_part_is_multiplied_by_that_of_its_set() -> None:
    part = result("m", 0.5, weight=3)
    nested = AssertionResult("assert-set", True, 0.5, "", 2, parts=(part,))
    assert scored(nested, result("m", 1)).metric_weights == {"m": 7}
