import pytest

from cupel_core.domain.analysis.metrics import Trials
from cupel_core.domain.analysis.power import DifferenceVariance, PairedTrials, plan_runs, scenarios_for, variance_of


def trials(*values: int) -> Trials:
    return Trials(len(values), sum(values), sum(value * value for value in values))


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


def test_variances_are_told_apart_by_repeats():
    same_noise = [PairedTrials(trials(1, 3), trials(2, 4)) for _ in range(8)]
    assert variance_of(same_noise) == DifferenceVariance(0.0, 4.0)


def test_without_repeats_everything_counts_as_differences_of_scenarios():
    pairs = [PairedTrials(trials(3), trials(after)) for after in (2, 3, 4, 5, 1)]
    assert variance_of(pairs) == DifferenceVariance(2.5, 0.0)


def test_few_scenarios_say_nothing():
    assert variance_of([PairedTrials(trials(3), trials(2))] * 4) is None
