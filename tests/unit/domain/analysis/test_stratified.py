"""Tests of one scenario, whose personas are strata, and of independent trials against scipy and statsmodels."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.stratified import (
    Stratum,
    compare_trials,
    fisher_exact_p,
    newcombe_interval,
    own_difference,
    stratified_p,
    welch,
)
from cupel_core.domain.statistics import Trials
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "scenario_changes.json").read_text())


FROZEN_SAMPLES = json.loads((FROZEN_FOLDER / "comparison.json").read_text())


def rates(*tables: list[int]) -> list[Stratum]:
    return [Stratum(Trials(n, a, a), Trials(m, b, b)) for n, a, m, b in tables]


def trials_of(codes: list[int]) -> Trials:
    return Trials(len(codes), sum(codes), sum(code**2 for code in codes))


@pytest.mark.parametrize("case", [*FROZEN["exact"], *FROZEN["large"]])
def test_rates_agree_with_scipy_and_statsmodels(case: dict[str, Any]) -> None:
    assert stratified_p(Metric.PASS_RATE, rates(*case["tables"])) == pytest.approx(case["p"], abs=1e-9)


@pytest.mark.parametrize("case", FROZEN["welch"])
def test_decisions_agree_with_scipy_and_statsmodels(case: dict[str, Any]) -> None:
    strata = [Stratum(*map(trials_of, sides)) for sides in case["samples"]]
    assert stratified_p(Metric.DECISION, strata) == pytest.approx(case["p"], abs=1e-9)


def test_personas_that_differ_are_no_noise() -> None:
    """Two personas always answer 1 and 5; one point more of both is lost among them if they are pooled."""
    before, after = ([1, 1, 2] * 3, [5, 5, 4] * 3), ([2, 2, 3] * 3, [5, 5, 5] * 3)
    strata = [Stratum(trials_of(one), trials_of(other)) for one, other in zip(before, after, strict=True)]
    pooled = [Stratum(trials_of(before[0] + before[1]), trials_of(after[0] + after[1]))]
    apart, together = (stratified_p(Metric.DECISION, each) for each in (strata, pooled))
    assert apart is not None
    assert together is not None
    assert apart < 0.001 < 0.1 < together


def test_what_has_too_few_trials_has_no_p() -> None:
    assert stratified_p(Metric.PASS_RATE, []) is None
    assert stratified_p(Metric.PASS_RATE, rates([3, 1, 0, 0])) is None
    assert stratified_p(Metric.DECISION, [Stratum(trials_of([1, 2]), trials_of([3]))]) is None
    assert stratified_p(Metric.DECISION, [Stratum(trials_of([1, 1]), trials_of([3, 3]))]) is None


def test_many_trials_that_all_pass_are_no_difference() -> None:
    assert stratified_p(Metric.PASS_RATE, rates([300, 300, 300, 300], [9, 9, 9, 9])) == 1.0


sides = st.builds(lambda n, share: Trials.of_share(n, round(n * share)), st.integers(1, 12), st.floats(0, 1))
strata = st.lists(st.builds(Stratum, sides, sides), min_size=1, max_size=6)


def test_four_scenarios_with_repeats_show_what_happened_to_them() -> None:
    """80 of 80 before, none of 80 after: nothing follows for other scenarios, and these fell."""
    found = own_difference(Metric.PASS_RATE, rates(*[[20, 20, 20, 0]] * 4), 0.05)
    assert found
    assert found.interval
    assert found.p is not None
    assert (found.difference, found.interval.low) == (-1, -1)
    assert found.interval.high < -0.9
    assert found.p < 1e-40


def test_decisions_of_exactly_these_scenarios_have_welchs_interval() -> None:
    """One scenario with the sides 1, 2, 3 and 3, 4, 5: a difference of 2, a standard error of 0.8165, and 2.7764
    is t(0.975; 4)."""
    found = own_difference(Metric.DECISION, [Stratum(trials_of([1, 2, 3]), trials_of([3, 4, 5]))], 0.05)
    assert found
    assert found.interval == pytest.approx((2 - 2.7764 * 0.8165, 2 + 2.7764 * 0.8165), abs=1e-3)
    assert own_difference(Metric.DECISION, [], 0.05) is None


@given(strata)
def test_exchanging_the_sides_changes_only_the_sign(found: list[Stratum]) -> None:
    one = own_difference(Metric.PASS_RATE, found, 0.05)
    other = own_difference(Metric.PASS_RATE, [Stratum(after, before) for before, after in found], 0.05)
    assert one
    assert other
    assert one.interval
    assert other.difference == pytest.approx(-one.difference)
    assert other.interval == pytest.approx((-one.interval.high, -one.interval.low))


@given(strata)
def test_the_test_and_the_interval_never_contradict_each_other(found: list[Stratum]) -> None:
    result = own_difference(Metric.PASS_RATE, found, 0.05)
    assert result
    assert result.interval
    assert result.interval.low <= result.difference + 1e-12
    assert result.difference <= result.interval.high + 1e-12
    if result.p is None or result.p >= 0.05:
        assert result.interval.low <= 0 <= result.interval.high


def rate(counts: list[int]) -> Trials:
    passed, judged = counts
    return Trials(judged, passed, passed)


def sample(values: list[int]) -> Trials:
    return Trials(len(values), sum(values), sum(value * value for value in values))


@pytest.mark.parametrize("case", FROZEN_SAMPLES["welch"])
def test_welch_agrees_with_scipy(case):
    before, after = (sample(values) for values in zip(*case["values"], strict=True))
    result = welch(before, after, 0.05)
    assert result.p == pytest.approx(case["p"], rel=1e-9)
    assert result.interval == pytest.approx((case["low"], case["high"]), rel=1e-9)


@pytest.mark.parametrize("case", FROZEN_SAMPLES["rates"])
def test_newcombes_interval_agrees_with_statsmodels(case):
    interval = newcombe_interval(rate(case["first"]), rate(case["second"]), 0.05)
    assert interval == pytest.approx((case["low"], case["high"]), rel=1e-9)


@pytest.mark.parametrize("case", FROZEN_SAMPLES["rates"])
def test_fishers_test_agrees_with_scipy(case):
    assert fisher_exact_p(rate(case["first"]), rate(case["second"])) == pytest.approx(case["fisherP"], rel=1e-9)


def test_newcombe_1998_table_2():
    """56/70 less 48/80: 0.2000 (0.0524 to 0.3339), method 10."""
    assert newcombe_interval(rate([48, 80]), rate([56, 70]), 0.05) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_trials_that_are_all_equal_have_a_difference_only():
    assert compare_trials(Metric.DECISION, sample([3, 3]), sample([4, 4]), 0.05) == (1, None, None)


def test_without_trials_there_is_no_difference():
    assert compare_trials(Metric.PASS_RATE, rate([0, 0]), rate([1, 2]), 0.05) == (None, None, None)
