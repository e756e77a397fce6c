"""How often intervals of calibrated judges miss. docs/statistics.md publishes what this prints.

Labels are right, and the judge errs in the way that a setting says. An interval holds if it contains the true rate of
scenarios like these.
"""

import pytest

from tests.statistics.calibrations import (
    JudgedSetting,
    agreement_coverage,
    carried_coverage,
    chosen_accuracies,
    code_coverage,
    corrected_coverage,
    difference_coverage,
    planned_half_widths,
)

DRAWS = 2_000
"""The standard error of a coverage of 0.95 is 0.005."""
FEWER_DRAWS = 500
LEAST = 0.93
TOLERANCE = 0.01
RATES = (0.5, 0.8, 0.95)
JUDGES = ((0.95, 0.9), (0.8, 0.7), (0.7, 0.95))
"""Sensitivity and specificity, so that the judge's own rate is too low or too high."""


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("labels", [20, 30, 60, 200])
def test_corrected_rates_hold(labels: int, rate: float, judge: tuple[float, float]) -> None:
    found = corrected_coverage(JudgedSetting(labels, rate, *judge, scenarios=4 * labels), DRAWS, 1)
    print(f"\ncorrected: {labels} labels, rate {rate}, judge {judge}: {found}")
    assert found.of_rate >= LEAST - TOLERANCE
    assert found.of_these >= LEAST - TOLERANCE
    assert found.width < found.labels_only_width


@pytest.mark.parametrize("judge", JUDGES[:2])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("labels", "scenarios"), [(30, 40), (60, 60), (200, 250)])
def test_corrected_rates_hold_with_repeats(
    labels: int, scenarios: int, rate: float, judge: tuple[float, float]
) -> None:
    """Scenarios differ in their pass rates, and in how well they are judged."""
    setting = JudgedSetting(labels, rate, *judge, scenarios=scenarios, repeats=5, correlation=0.5, spread=0.05)
    found = corrected_coverage(setting, DRAWS, 2)
    print(f"\ncorrected, 5 repeats: {labels} labels, {scenarios} scenarios, rate {rate}, judge {judge}: {found}")
    assert found.of_rate >= LEAST - TOLERANCE
    assert found.of_these >= LEAST - TOLERANCE


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("labels", [100, 200])
def test_corrected_rates_hold_if_whole_scenarios_are_labelled(labels: int, rate: float) -> None:
    setting = JudgedSetting(labels, rate, 0.95, 0.9, scenarios=200, repeats=5, correlation=0.5, is_simple_sample=True)
    found = corrected_coverage(setting, FEWER_DRAWS, 3)
    print(f"\ncorrected, labels of whole scenarios of 5: {labels} labels, rate {rate}: {found}")
    assert found.of_rate >= LEAST - 2 * TOLERANCE
    assert found.of_these >= LEAST - 2 * TOLERANCE


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("labels", [30, 60, 200])
def test_a_judge_that_knows_nothing_hardly_widens_the_interval(labels: int, rate: float) -> None:
    setting = JudgedSetting(labels, rate, 0.5, 0.5, scenarios=4 * labels, is_simple_sample=True)
    found = corrected_coverage(setting, FEWER_DRAWS, 4)
    print(f"\ncorrected, judge is noise: {labels} labels, rate {rate}: {found}")
    assert found.width <= 1.05 * found.labels_only_width
    assert found.of_rate >= LEAST - 2 * TOLERANCE


@pytest.mark.parametrize("change", [0.0, 0.1])
@pytest.mark.parametrize("labels", [30, 60, 200])
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_differences_hold_if_the_judge_errs_differently_on_the_targets(
    correlation: float, labels: int, change: float
) -> None:
    before = JudgedSetting(labels, 0.8, 0.95, 0.9, scenarios=4 * labels, correlation=correlation)
    after = before._replace(rate=0.8 + change, sensitivity=0.8, specificity=0.7)
    found, judged = difference_coverage(before, after, FEWER_DRAWS, 5)
    print(
        f"\ndifference {change}: {labels} labels each, correlation {correlation}: {found:.3f}; "
        f"the judge's own difference is {judged:+.3f}"
    )
    assert found >= LEAST - 2 * TOLERANCE


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("labels", [60, 200])
def test_carried_rates_hold_if_only_the_share_of_passes_changes(labels: int, rate: float) -> None:
    calibrated = JudgedSetting(labels, 0.7, 0.95, 0.9, scenarios=4 * labels)
    found, refused = carried_coverage(calibrated, calibrated._replace(rate=rate), 30, FEWER_DRAWS, 6)
    print(f"\ncarried: {labels} labels, rate 0.7 then {rate}: {found:.3f}; refused {refused:.3f}")
    assert found >= LEAST - 2 * TOLERANCE


@pytest.mark.parametrize("fresh", [20, 60])
def test_what_fresh_labels_find(fresh: int) -> None:
    """A worse judge of the other run is refused more often with more fresh labels."""
    calibrated = JudgedSetting(200, 0.8, 0.95, 0.9, scenarios=300)
    found, refused = carried_coverage(
        calibrated, calibrated._replace(sensitivity=0.8, specificity=0.7), fresh, FEWER_DRAWS, 7
    )
    print(f"\ncarried, worse judge: {fresh} fresh labels: refused {refused:.3f}, else holds {found:.3f}")
    assert refused > (0.4 if fresh == 60 else 0.15)


@pytest.mark.parametrize(("labels", "noise"), [(30, 0.5), (60, 0.5), (200, 0.5), (60, 3.0)])
def test_corrected_means_of_codes_hold(labels: int, noise: float) -> None:
    found, width = code_coverage(labels, 4 * labels, noise, DRAWS, 8)
    print(f"\ncodes: {labels} labels, noise {noise}: {found:.3f}; width {width:.2f} of labels only")
    assert found >= LEAST - TOLERANCE
    assert width <= 1.05


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("labels", [30, 60, 200])
def test_intervals_of_agreement_hold(labels: int, rate: float) -> None:
    found = agreement_coverage(JudgedSetting(labels, rate, 0.9, 0.8, scenarios=4 * labels), FEWER_DRAWS, 9)
    print(f"\nagreement: {labels} labels, rate {rate}: {found}")
    assert min(found) >= LEAST - 2 * TOLERANCE


@pytest.mark.parametrize("judges", [2, 5])
def test_cross_fit_accuracy_is_not_too_high(judges: int) -> None:
    seeming, cross_fit = chosen_accuracies(judges, 60, FEWER_DRAWS, 10)
    print(f"\nbest of {judges} equal judges (0.8), 60 labels: {seeming:.3f}, cross-fit {cross_fit:.3f}")
    assert seeming > 0.81
    assert abs(cross_fit - 0.8) < 0.015


def test_planned_numbers_of_labels_reach_their_half_width() -> None:
    setting = JudgedSetting(60, 0.8, 0.9, 0.8, scenarios=600)
    reached = planned_half_widths(setting, 0.06, FEWER_DRAWS, 11)
    print(f"\nplanned half-width 0.06: {reached:.4f}")
    assert abs(reached - 0.06) < 0.006
