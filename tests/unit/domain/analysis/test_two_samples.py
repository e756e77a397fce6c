"""Tests of independent trials against scipy and statsmodels (tests/oracles/comparison.json)."""

import json

import pytest

from cupel_core.domain.analysis.metrics import Metric, Trials
from cupel_core.domain.analysis.two_samples import compare_trials, fisher_exact_p, newcombe_interval, welch
from tests.oracles import FROZEN_FOLDER

FROZEN = json.loads((FROZEN_FOLDER / "comparison.json").read_text())


def rate(counts: list[int]) -> Trials:
    passed, judged = counts
    return Trials(judged, passed, passed)


def sample(values: list[int]) -> Trials:
    return Trials(len(values), sum(values), sum(value * value for value in values))


@pytest.mark.parametrize("case", FROZEN["welch"])
def test_welch_agrees_with_scipy(case):
    before, after = (sample(values) for values in zip(*case["values"], strict=True))
    result = welch(before, after, 0.05)
    assert result.p == pytest.approx(case["p"], rel=1e-9)
    assert result.interval == pytest.approx((case["low"], case["high"]), rel=1e-9)


@pytest.mark.parametrize("case", FROZEN["rates"])
def test_newcombes_interval_agrees_with_statsmodels(case):
    interval = newcombe_interval(rate(case["first"]), rate(case["second"]), 0.05)
    assert interval == pytest.approx((case["low"], case["high"]), rel=1e-9)


@pytest.mark.parametrize("case", FROZEN["rates"])
def test_fishers_test_agrees_with_scipy(case):
    assert fisher_exact_p(rate(case["first"]), rate(case["second"])) == pytest.approx(case["fisherP"], rel=1e-9)


def test_newcombe_1998_table_2():
    """56/70 less 48/80: 0.2000 (0.0524 to 0.3339), method 10."""
    assert newcombe_interval(rate([48, 80]), rate([56, 70]), 0.05) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_trials_that_are_all_equal_have_a_difference_only():
    assert compare_trials(Metric.DECISION, sample([3, 3]), sample([4, 4]), 0.05) == (1, None, None)


def test_without_trials_there_is_no_difference():
    assert compare_trials(Metric.PASS_RATE, rate([0, 0]), rate([1, 2]), 0.05) == (None, None, None)
