"""Differences and means of corrected rates."""

from random import Random

import pytest

from cupel_core.domain.calibration.carried_rates import carried_pass_rate, judge_errors
from cupel_core.domain.calibration.corrected_differences import corrected_difference
from cupel_core.domain.calibration.corrected_rates import CorrectedRate, corrected_pass_rate
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.statistics import Interval
from tests.statistics.calibrations import JudgedSetting, difference_coverage, judged_run


def side(setting: JudgedSetting, rates: list[float], seed: int) -> CorrectedRate:
    rng = Random(seed)
    run = judged_run(setting, rng, rates)
    found = corrected_pass_rate(run.drawn(setting.labels, rng), run.verdicts)
    assert isinstance(found, CorrectedRate)
    return found


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high - interval.low


SETTING = JudgedSetting(200, 0.5, 0.97, 0.97, scenarios=200)


def test_a_judge_that_errs_differently_makes_no_difference() -> None:
    before = JudgedSetting(200, 0.8, 0.97, 0.95, scenarios=400)
    first = side(before, [0.8] * 400, 1)
    second = side(before._replace(sensitivity=0.75), [0.8] * 400, 2)
    assert second.judge_rate is not None
    assert first.judge_rate is not None
    assert second.judge_rate - first.judge_rate < -0.1
    found = corrected_difference([second], [first])
    assert found.interval is not None
    assert found.value == second.rate - first.rate
    assert found.interval.low < 0 < found.interval.high


def test_shared_scenarios_make_the_difference_more_precise() -> None:
    rates = [0.02] * 100 + [0.98] * 100
    first, second = side(SETTING, rates, 3), side(SETTING, rates, 4)
    other = second.influences
    unrelated = CorrectedRate(**{**vars(second), "influences": {f"x{key}": value for key, value in other.items()}})
    apart = corrected_difference([unrelated], [first])
    assert width(corrected_difference([second], [first]).interval) < 0.7 * width(apart.interval)


def test_a_shared_calibration_cancels() -> None:
    labelled = [LabelledVerdict(f"l{n}", n % 10 > 1, True) for n in range(60)]
    labelled += [LabelledVerdict(f"l{n}", n % 10 > 7, False) for n in range(60, 120)]
    rates = []
    for source, run in (("run_a", 0), ("run_a", 1), ("run_b", 1)):
        calibration = judge_errors(labelled, source)
        assert calibration is not None
        verdicts = [ScenarioVerdicts(f"{run}-{n}", int(n % 10 > 3), int(n % 10 <= 3)) for n in range(400)]
        found = carried_pass_rate(calibration, verdicts, labelled[::3])
        assert isinstance(found, CorrectedRate)
        rates.append(found)
    same, other = corrected_difference([rates[1]], [rates[0]]), corrected_difference([rates[2]], [rates[0]])
    assert width(same.interval) < 0.8 * width(other.interval)


def test_the_mean_of_targets_is_more_precise_than_each() -> None:
    baseline, first, second = (side(SETTING, [0.5] * 200, seed) for seed in (4, 5, 6))
    found = corrected_difference([first, second], [baseline, baseline])
    assert found.value == pytest.approx((first.rate + second.rate) / 2 - baseline.rate)
    assert width(found.interval) < width(corrected_difference([first], [baseline]).interval)


def test_a_rate_without_interval_leaves_none() -> None:
    labelled = [LabelledVerdict(str(n), True, n > 0) for n in range(3)]
    few = corrected_pass_rate(labelled, [ScenarioVerdicts(str(n), 1, 0) for n in range(3)])
    assert isinstance(few, CorrectedRate)
    assert corrected_difference([few], [few]).interval is None


def test_equal_sides_differ_by_nothing() -> None:
    first = side(SETTING, [0.5] * 200, 7)
    assert corrected_difference([first], [first]).value == 0
    assert corrected_difference([first], [first]).standard_error == 0


def test_differences_hold_in_a_small_sample() -> None:
    before = JudgedSetting(60, 0.8, 0.95, 0.9, scenarios=120)
    found, judged = difference_coverage(before, before._replace(sensitivity=0.8), 40, 8)
    assert found >= 0.85
    assert judged < -0.08
