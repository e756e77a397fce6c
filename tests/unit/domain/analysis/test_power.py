import pytest

from cupel_core.domain.analysis.power import (
    DifferenceVariance,
    PlannedRun,
    plan_runs,
    rate_variance,
    scenarios_for,
    upper_variance,
)


def test_the_number_of_pairs_agrees_with_published_tables():
    """A paired t test of d = 0.5 at 0.05 with power 0.8 needs 34 pairs (Cohen 1988; G*Power 3)."""
    assert scenarios_for(0.5, 1.0, 0.05, 1) in (33, 34)


def test_half_of_the_effect_needs_about_four_times_the_scenarios():
    large, small = (scenarios_for(effect, 1.0, 0.05, 1) for effect in (0.4, 0.2))
    assert small / large == pytest.approx(4, rel=0.05)


def test_several_tests_need_more_scenarios():
    assert scenarios_for(0.5, 1.0, 0.05, 3) > scenarios_for(0.5, 1.0, 0.05, 1)


def test_a_difference_too_small_for_any_run_has_no_number():
    assert scenarios_for(0.0001, 1.0, 0.05, 1) is None


def test_repeats_help_only_against_noise():
    noisy = {plan.repeats: plan.scenarios for plan in plan_runs(0.5, DifferenceVariance(0.0, 2.0))}
    varied = {plan.repeats: plan.scenarios for plan in plan_runs(0.5, DifferenceVariance(2.0, 0.0))}
    assert noisy[10] < noisy[1] / 5
    assert varied[10] == varied[1]


def test_what_noise_explains_is_no_difference_of_scenarios():
    assert DifferenceVariance.split(2.0, within=4.0, answers=4) == DifferenceVariance(1.0, 4.0)
    assert DifferenceVariance.split(0.5, within=4.0, answers=4) == DifferenceVariance(0.0, 4.0)
    assert DifferenceVariance.split(2.5, within=0.0, answers=1) == DifferenceVariance(2.5, 0.0)


def test_answers_of_personas_average_the_noise_out_and_are_probes_too():
    alone, three = (list(plan_runs(0.5, DifferenceVariance(0.0, 3.0), personas=each)) for each in (1.0, 3.0))
    assert three[0].scenarios == alone[2].scenarios
    assert (alone[2].repeats, three[0].probes) == (3, alone[2].probes)
    assert PlannedRun(2, 7, 1.5).probes == 21


def test_the_upper_bound_of_a_pilots_variance_is_that_of_chi_squared():
    """scipy.stats.chi2.ppf(0.2, 9) is 5.380053211773292."""
    assert upper_variance(2.0, 10) == pytest.approx(2.0 * 9 / 5.380053211773292, abs=1e-9)
    assert upper_variance(2.0, 1_000) < 2.1


@pytest.mark.parametrize(
    ("rate", "effect", "variance"),
    [(0.95, 0.05, 0.1375), (0.05, 0.05, 0.1375), (0.5, 0.1, 0.49), (1.0, 0.2, 0.16), (0.4, 0.7, None)],
)
def test_the_spread_of_rates_is_that_of_independent_answers(rate: float, effect: float, variance: float | None):
    assert rate_variance(rate, effect) == (variance if variance is None else pytest.approx(variance))
