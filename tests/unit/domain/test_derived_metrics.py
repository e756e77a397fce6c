"""Metrics computed from others: promptfoo's arithmetic, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.column_totals import CountedOutcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.definitions.definitions import Content, content_errors
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, derive, expression_issue
from cupel_core.domain.scoring.scores import column_scores

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
