import json
from math import exp, log

import pytest

from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.paired_ratios import ratio_estimate
from cupel_core.domain.analysis.significance import SignificanceTest
from tests.oracles import FROZEN_FOLDER

CASES = json.loads((FROZEN_FOLDER / "usage_ratios.json").read_text())


def pairs(*ratios: float) -> list[PairedValues]:
    """Scenarios that differ by factors of ten, with these ratios of their sides."""
    return [PairedValues(log(10.0**number), log(10.0**number * ratio)) for number, ratio in enumerate(ratios)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['amounts'])} scenarios")
def test_figures_agree_with_scipy(case):
    estimate = ratio_estimate([PairedValues(log(before), log(after)) for before, after in case["amounts"]], 0.05)
    assert estimate.interval is not None
    found = {
        "baseline": estimate.baseline,
        "comparison": estimate.comparison,
        "ratio": estimate.ratio,
        "low": estimate.interval.low,
        "high": estimate.interval.high,
        "p": estimate.p,
    }
    assert found == pytest.approx({name: case[name] for name in found}, rel=1e-9)
    assert estimate.test is SignificanceTest.PAIRED_T


def test_the_published_figures_of_student_are_those_of_logarithms():
    gains = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    estimate = ratio_estimate([PairedValues(3.0, 3.0 + gain) for gain in gains], 0.05)
    assert (estimate.ratio, estimate.p) == (pytest.approx(exp(1.58)), pytest.approx(0.00283289, rel=1e-6))


def test_swapped_sides_have_the_inverse_ratio_and_the_same_p():
    scenarios = pairs(1.2, 0.9, 2.0, 1.1, 1.4, 1.3)
    there = ratio_estimate(scenarios, 0.05)
    back = ratio_estimate([PairedValues(pair.comparison, pair.baseline) for pair in scenarios], 0.05)
    assert there.interval is not None
    assert back.interval is not None
    assert (back.ratio, back.p) == (pytest.approx(1 / there.ratio), pytest.approx(there.p))
    assert back.interval == (pytest.approx(1 / there.interval.high), pytest.approx(1 / there.interval.low))


def test_fewer_than_five_scenarios_have_neither_interval_nor_p():
    estimate = ratio_estimate(pairs(1.2, 0.9, 2.0, 1.1), 0.05)
    assert estimate.ratio == pytest.approx((1.2 * 0.9 * 2.0 * 1.1) ** 0.25)
    assert (estimate.scenarios, estimate.interval, estimate.p) == (4, None, None)


def test_nothing_is_known_without_scenarios():
    estimate = ratio_estimate([], 0.05)
    assert (estimate.scenarios, estimate.baseline, estimate.ratio, estimate.p) == (0, None, None, None)


def test_scenarios_with_the_same_ratio_have_a_sign_test_and_no_interval():
    estimate = ratio_estimate(pairs(*[0.8] * 8), 0.05)
    assert estimate.test is SignificanceTest.SIGN
    assert (estimate.ratio, estimate.interval, estimate.p) == (pytest.approx(0.8), None, pytest.approx(0.5**8))


def test_equal_sides_have_no_direction_to_test():
    estimate = ratio_estimate(pairs(*[1.0] * 8), 0.05)
    assert (estimate.ratio, estimate.usual, estimate.interval, estimate.p) == (1.0, 1.0, None, None)


def test_a_few_scenarios_without_the_usual_ratio_are_counted():
    estimate = ratio_estimate(pairs(*[1.01] * 19, 50.0), 0.05)
    assert (estimate.usual, estimate.usual_scenarios) == (pytest.approx(1.01), 19)
    assert estimate.p == pytest.approx(0.5**20)


def test_a_few_scenarios_that_turn_the_mean_leave_no_p():
    estimate = ratio_estimate(pairs(*[0.99] * 19, 100.0), 0.05)
    assert estimate.ratio is not None
    assert estimate.ratio > 1
    assert (estimate.interval, estimate.p) == (None, None)
