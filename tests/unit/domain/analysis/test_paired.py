"""Paired figures against published values, scipy and statsmodels (tests/oracles/comparison.json)."""

import json
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.distributions import binomial_mid_p, binomial_probability
from cupel_core.domain.analysis.paired import (
    PairedValues,
    effect_size,
    equivalence_p,
    minimum_detectable_effect,
    paired_estimate,
    scenarios_needed,
)
from tests.oracles import FROZEN_FOLDER

FROZEN = json.loads((FROZEN_FOLDER / "comparison.json").read_text())
SLEEP_1 = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
SLEEP_2 = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
values = st.lists(st.builds(PairedValues, st.floats(1, 5), st.floats(1, 5)), min_size=5, max_size=40)


def test_students_sleep_data():
    """Student (1908): ten patients, hours of additional sleep with either drug; t = 4.0621, p = 0.002833."""
    estimate = paired_estimate([PairedValues(*pair) for pair in zip(SLEEP_1, SLEEP_2, strict=True)], 0.05, 4)
    assert estimate.difference == pytest.approx(1.58)
    assert estimate.difference / estimate.standard_error == pytest.approx(4.0621, abs=5e-5)
    assert estimate.p == pytest.approx(0.002833, abs=5e-7)
    assert estimate.interval == pytest.approx((0.7001, 2.4599), abs=5e-5)


@pytest.mark.parametrize("case", FROZEN["paired"])
def test_paired_t_agrees_with_scipy(case):
    estimate = paired_estimate([PairedValues(*pair) for pair in case["values"]], 0.05, 4)
    assert estimate.p == pytest.approx(case["p"], rel=1e-9)
    assert estimate.interval == pytest.approx((case["low"], case["high"]), rel=1e-9)
    assert estimate.standard_error == pytest.approx(case["standardError"], rel=1e-12)


@pytest.mark.parametrize("case", FROZEN["paired"])
def test_equivalence_agrees_with_statsmodels(case):
    estimate = paired_estimate([PairedValues(*pair) for pair in case["values"]], 0.05, 4)
    p = equivalence_p(estimate.difference, estimate.standard_error, estimate.scenarios, 0.5)
    assert p == pytest.approx(case["equivalenceP"], rel=1e-9)


@given(values, st.floats(0.05, 2))
def test_two_one_sided_tests_are_the_interval_within_the_margin(pairs, margin):
    estimate = paired_estimate(pairs, 0.05, 4)
    if not estimate.standard_error:
        return
    low, high = estimate.equivalence_interval
    p = equivalence_p(estimate.difference, estimate.standard_error, len(pairs), margin)
    if abs(p - 0.05) > 1e-6:
        assert (p < 0.05) == (-margin < low and high < margin)


@given(values)
def test_p_is_below_the_level_exactly_if_the_interval_excludes_zero(pairs):
    estimate = paired_estimate(pairs, 0.05, 4)
    if estimate.p is not None and estimate.standard_error and abs(estimate.p - 0.05) > 1e-6:
        assert (estimate.p < 0.05) == (estimate.interval.low > 0 or estimate.interval.high < 0)


@given(values)
def test_exchanging_the_sides_reverses_the_sign_and_nothing_else(pairs):
    forward = paired_estimate(pairs, 0.05, 4)
    backward = paired_estimate([PairedValues(after, before) for before, after in pairs], 0.05, 4)
    assert backward.difference == pytest.approx(-forward.difference, abs=1e-12)
    assert backward.p == (forward.p if forward.p is None else pytest.approx(forward.p))


def test_fewer_than_five_scenarios_have_no_interval_and_no_p():
    estimate = paired_estimate(
        [PairedValues(1, 2), PairedValues(1, 4), PairedValues(2, 2), PairedValues(3, 5)], 0.05, 4
    )
    assert (estimate.interval, estimate.equivalence_interval, estimate.p) == (None, None, None)
    assert estimate.difference == 1.5


@pytest.mark.parametrize(("scenarios", "reach"), [(6, 4 * (1 - 0.025 ** (1 / 6))), (100, 4 * (1 - 0.025**0.01))])
def test_equal_values_allow_for_unlike_scenarios_that_were_not_seen(scenarios: int, reach: float):
    """Of the scenarios, a share of 1 - 0.025^(1/n) may differ by up to four points, and none is seen in one of 40
    samples."""
    estimate = paired_estimate([PairedValues(3, 3)] * scenarios, 0.05, 4)
    assert (estimate.p, estimate.is_rare) == (1, True)
    assert estimate.interval == (pytest.approx(-reach), pytest.approx(reach))


@pytest.mark.parametrize(("scenarios", "p"), [(5, 2**-5), (6, 2**-6), (200, 2**-200)])
def test_differences_that_are_all_equal_have_the_p_of_a_sign_test(scenarios: int, p: float):
    estimate = paired_estimate([PairedValues(5, 1)] * scenarios, 0.05, 4)
    assert (estimate.difference, estimate.p) == (-4, pytest.approx(p))
    assert estimate.interval.low == -4
    assert estimate.interval.high <= 0


def test_one_scenario_unlike_the_others_says_little_about_their_spread():
    estimate = paired_estimate([PairedValues(3, 3)] * 19 + [PairedValues(3, 2.9)], 0.05, 4)
    assert estimate.is_rare
    assert estimate.equivalence_interval.high > 0.25


@given(st.lists(st.sampled_from([-1, 0, 0, 0, 0, 0, 0, 2]), min_size=5, max_size=60))
def test_the_test_and_the_interval_never_contradict_each_other(differences: list[int]):
    estimate = paired_estimate([PairedValues(3, 3 + each) for each in differences], 0.05, 4)
    low, high = estimate.interval
    assert low <= estimate.difference <= high
    if estimate.is_rare and estimate.p >= 0.05:
        assert low <= 0 <= high
    elif estimate.is_rare:
        assert low >= 0 or high <= 0


@pytest.mark.parametrize("case", FROZEN["mcnemar"])
def test_mcnemar_mid_p_is_the_exact_p_of_statsmodels_less_half_of_the_observed_table_on_both_sides(case):
    gained, lost = case["gained"], case["lost"]
    observed = binomial_probability(gained, gained + lost, 0.5)
    assert binomial_mid_p(min(gained, lost), gained + lost) == pytest.approx(case["exactP"] - observed, rel=1e-9)


def test_agrestis_approval_table():
    """Agresti, Categorical Data Analysis: 794 and 570 agreed, 150 and 86 changed; z^2 = 17.36 by McNemar's formula."""
    z = 17.36**0.5
    assert binomial_mid_p(86, 236) == pytest.approx(2 * (1 - NormalDist().cdf(z)), rel=0.2)


def test_mcnemar_without_discordant_scenarios():
    assert binomial_mid_p(0, 0) == 1


def test_effect_size_is_cohens_d_with_the_average_variance():
    pairs = [PairedValues(1, 2), PairedValues(2, 4), PairedValues(3, 6)]
    assert effect_size(pairs) == pytest.approx(2 / ((1 + 4) / 2) ** 0.5)
    assert effect_size([PairedValues(3, 4)] * 5) is None


def test_the_detectable_effect_grows_with_the_number_of_tests():
    """Tables of t with 29 degrees of freedom: 2.04523 at 0.975, 0.85419 at 0.8, 2.36385 at 0.9875."""
    assert minimum_detectable_effect(0.1, 30, 0.05) == pytest.approx(0.289942, abs=1e-6)
    assert minimum_detectable_effect(0.1, 30, 0.05, tests=2) == pytest.approx(0.321803, abs=2e-5)


def test_half_of_the_effect_needs_four_times_the_scenarios():
    assert scenarios_needed(0.25, 0.5, 100) == 400
