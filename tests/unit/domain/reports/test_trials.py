"""How large a trial of a revised prompt is, and what its comparison says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.metrics import Trials
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.reports.trials import (
    DIFFERENCE,
    TrialMaterial,
    TrialResult,
    TrialVerdict,
    choose_scenarios,
    noise_of,
    trial_size,
    verdict_of,
)

HIGHER, LOWER, INCONCLUSIVE = ComparisonVerdict.HIGHER, ComparisonVerdict.LOWER, ComparisonVerdict.INCONCLUSIVE
PLENTY = 1_000_000


def test_with_enough_scenarios_each_is_asked_once() -> None:
    size = trial_size(TrialMaterial(10_000, 1.0, 0.25), PLENTY)
    assert (size.scenarios, size.repeats) == (403, 1)
    assert size.detectable_difference == pytest.approx(DIFFERENCE, abs=0.001)


def test_with_few_scenarios_each_is_asked_more_often() -> None:
    size = trial_size(TrialMaterial(40, 1.0, 0.25), PLENTY)
    assert 1 < size.repeats < 100
    assert size.scenarios <= 40
    assert size.detectable_difference <= DIFFERENCE


def test_what_the_budget_does_not_allow_is_said() -> None:
    size = trial_size(TrialMaterial(40, 2.0, 0.25), 40)
    assert (size.scenarios, size.repeats) == (20, 1)
    assert size.detectable_difference > DIFFERENCE


def test_a_single_scenario_is_repeated() -> None:
    size = trial_size(TrialMaterial(1, 1.0, 0.01), PLENTY)
    assert (size.scenarios, size.repeats) == (1, 16)


@given(st.integers(5, 5_000), st.floats(1, 20), st.floats(0, 0.25), st.integers(0, 100_000))
def test_a_trial_is_within_what_there_is(scenarios: int, answers: float, noise: float, probes: int) -> None:
    size = trial_size(TrialMaterial(scenarios, answers, noise), probes)
    assert 5 <= size.scenarios <= scenarios
    assert size.scenarios == 5 or size.scenarios * size.repeats * answers <= max(probes, answers)
    assert 0 < size.detectable_difference <= 1


def test_noise_is_that_of_repeats() -> None:
    assert noise_of([Trials(4, 0, 0), Trials(4, 4, 4)] * 3) == 0
    assert noise_of([Trials(4, 2, 2)] * 5) == pytest.approx(1 / 3)


def test_without_repeats_noise_is_that_of_all_results() -> None:
    assert noise_of([Trials(1, 1, 1), Trials(1, 0, 0)] * 50) == pytest.approx(0.25, abs=0.001)
    assert noise_of([Trials(1, 1, 1)] * 4) > 0


def test_scenarios_of_the_first_group_are_chosen_first() -> None:
    groups = ([7, 8, 9], [1, 2, 3, 4], [5, 6])
    assert choose_scenarios(groups, 3, 1) == [7, 8, 9]
    chosen = choose_scenarios(groups, 5, 1)
    assert set(chosen) > {7, 8, 9}
    assert not {5, 6} & set(chosen)
    assert choose_scenarios(groups, 9, 1) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert chosen == choose_scenarios(groups, 5, 1) == sorted(chosen)


@pytest.mark.parametrize(
    ("overall", "rows", "verdict"),
    [
        (HIGHER, [INCONCLUSIVE], TrialVerdict.HELPS),
        (LOWER, [HIGHER], TrialVerdict.HURTS),
        (INCONCLUSIVE, [HIGHER], TrialVerdict.NOT_SHOWN),
        (None, [HIGHER, INCONCLUSIVE], TrialVerdict.HELPS),
        (None, [HIGHER, LOWER], TrialVerdict.NOT_SHOWN),
        (None, [LOWER], TrialVerdict.HURTS),
    ],
)
def test_the_verdict_is_that_of_the_comparison(
    overall: ComparisonVerdict | None, rows: list[ComparisonVerdict], verdict: TrialVerdict
) -> None:
    assert verdict_of(overall, rows) is verdict


def test_what_is_not_shown_says_what_would_have_been_found() -> None:
    result = TrialResult(TrialVerdict.NOT_SHOWN, 0.5, 0.55, 0.05, (-0.02, 0.12), 0.2, 0.1)
    assert result.sentence == (
        "It is not shown that the revised prompt changes the pass rate: 55.0% passed instead of 50.0% (+5.0 pp, "
        "95% interval −2.0 pp to +12.0 pp); a difference of 10.0 percentage points would have been found in 80% of "
        "trials."
    )
