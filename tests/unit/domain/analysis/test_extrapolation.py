from math import sqrt
from random import Random
from statistics import fmean

import pytest

from cupel_core.domain.analysis.extrapolation import RunSample, extrapolate_mean, extrapolate_share
from cupel_core.domain.statistics import standard_error, wilson_interval

SAMPLE = RunSample(12, 120, 42)


def test_the_note_says_how_many_scenarios_were_run():
    assert SAMPLE.note == "Based on 10 % of the scenarios (12 of 120, seed 42)."
    assert RunSample(1, 3_000, 7).note == "Based on 0.03 % of the scenarios (1 of 3,000, seed 7)."
    assert RunSample(120, 120, 42).note is None


def test_an_expansion_adds_the_remaining_scenarios():
    assert SAMPLE.probes_to_add(36) == 324
    assert RunSample(120, 120, 42).probes_to_add(360) == 0


def test_the_error_is_smaller_by_cochrans_correction():
    extrapolated = extrapolate_mean(3.0, 0.2, 12, SAMPLE)
    assert extrapolated.standard_error == pytest.approx(0.2 * sqrt(0.9))
    reach = 2.200985 * 0.2 * sqrt(0.9)
    assert extrapolated.interval == pytest.approx((3 - reach, 3 + reach), abs=1e-5)


def test_all_scenarios_leave_nothing_to_extrapolate():
    assert extrapolate_mean(3.0, 0.2, 12, RunSample(12, 12, 1)) is None
    assert extrapolate_share(0.5, 0.2, 12, 12, RunSample(12, 12, 1)) is None


def test_few_scenarios_have_no_interval():
    assert extrapolate_mean(3.0, 0.2, 4, RunSample(4, 120, 1)).interval is None


def test_shares_have_wilsons_interval_with_more_trials():
    extrapolated = extrapolate_share(0.25, 0.125, 12, 12, SAMPLE)
    assert extrapolated.interval == wilson_interval(0.25 * 12 / 0.9, 12 / 0.9)


def test_the_interval_covers_what_a_full_run_shows():
    """60 of 120 scenarios, 400 times; without the correction it would cover 0.99."""
    rng = Random(3)
    hits = 0
    for _ in range(400):
        population = [rng.gauss(3, 1) for _ in range(120)]
        drawn = rng.sample(population, 60)
        extrapolated = extrapolate_mean(fmean(drawn), standard_error(drawn), 60, RunSample(60, 120, 1))
        hits += extrapolated.interval.low <= fmean(population) <= extrapolated.interval.high
    assert 0.93 <= hits / 400 <= 0.97
