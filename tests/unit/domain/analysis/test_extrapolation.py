from math import sqrt
from random import Random
from statistics import fmean

import pytest

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.analysis.estimates import MeanEstimate, group_estimate
from cupel_core.domain.analysis.extrapolation import (
    GroupExtrapolation,
    RunSample,
    drawn_sample,
    extrapolate,
    extrapolate_mean,
)
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.statistics import standard_error, wilson_interval

SAMPLE = RunSample(12, 120, 42)
ESTIMATE = group_estimate({Cell(judged=1, passed=1): 3, Cell(judged=1): 9})


def mean(value: float, error: float, scenarios: int) -> MeanEstimate:
    return MeanEstimate(scenarios, scenarios, mean=value, standard_error=error)


def test_the_note_says_how_many_scenarios_were_run():
    assert SAMPLE.note == "Based on 10% of the scenarios (12 of 120, seed 42)."
    assert RunSample(1, 3_000, 7).note == "Based on 0.03% of the scenarios (1 of 3,000, seed 7)."
    assert RunSample(120, 120, 42).note is None


def test_scenarios_that_were_not_drawn_are_no_sample():
    chosen = RunSample(5, 36, 42, is_drawn=False)
    assert (chosen.note, chosen.expansion, extrapolate(ESTIMATE, chosen)) == (None, None, None)


def test_an_expansion_adds_the_remaining_cases_for_each_column_and_repeat():
    plan = Plan(plain_targets("sim/steady", "sim/bold"), (12,), 3)
    assert drawn_sample(12, 120, 42, plan, total_cases=120).probes_to_add == 108 * 2 * 3
    assert drawn_sample(12, 12, 42, plan, total_cases=12).probes_to_add == 0


def test_scenarios_whose_personas_are_not_known_are_taken_to_have_as_many():
    plan = Plan(plain_targets("sim/steady"), (24,))
    sample = drawn_sample(12, 120, 42, plan, total_cases=None)
    assert sample.expansion == "An expansion to all scenarios adds 216 conversations."


def test_the_error_is_smaller_by_cochrans_correction():
    extrapolated = extrapolate_mean(mean(3.0, 0.2, 12), SAMPLE)
    assert extrapolated.standard_error == pytest.approx(0.2 * sqrt(0.9))
    reach = 2.200985 * 0.2 * sqrt(0.9)
    assert extrapolated.interval == pytest.approx((3 - reach, 3 + reach), abs=1e-5)


def test_only_scenarios_with_an_answer_are_known():
    assert extrapolate_mean(mean(3.0, 0.2, 6), SAMPLE).standard_error == pytest.approx(0.2 * sqrt(1 - 6 / 120))


def test_all_scenarios_leave_nothing_to_extrapolate():
    assert extrapolate(ESTIMATE, RunSample(12, 12, 1)) is None


def test_a_single_scenario_says_nothing_about_others():
    estimate = group_estimate({Cell(code_3=4, code_4=5, judged=9, passed=3): 1})
    assert extrapolate(estimate, RunSample(1, 120, 1)) == GroupExtrapolation(None, None)


def test_few_scenarios_have_no_interval():
    assert extrapolate_mean(mean(3.0, 0.2, 4), RunSample(4, 120, 1)).interval is None


def test_an_interval_of_decisions_ends_at_their_bounds():
    assert extrapolate_mean(mean(4.9, 0.2, 12), SAMPLE).interval.high == 5


def test_shares_have_wilsons_interval_with_more_trials():
    extrapolated = extrapolate(ESTIMATE, SAMPLE).pass_rate
    assert extrapolated.interval == wilson_interval(0.25 * 12 / 0.9, 12 / 0.9, t_quantile(0.975, 11))
    assert extrapolated.interval.low > ESTIMATE.pass_rate.interval.low


def test_the_interval_covers_what_a_full_run_shows():
    """60 of 120 scenarios, 400 times; without the correction it would cover 0.99."""
    rng = Random(3)
    hits = 0
    for _ in range(400):
        population = [rng.gauss(3, 0.5) for _ in range(120)]
        drawn = rng.sample(population, 60)
        extrapolated = extrapolate_mean(mean(fmean(drawn), standard_error(drawn), 60), RunSample(60, 120, 1))
        hits += extrapolated.interval.low <= fmean(population) <= extrapolated.interval.high
    assert 0.93 <= hits / 400 <= 0.97
