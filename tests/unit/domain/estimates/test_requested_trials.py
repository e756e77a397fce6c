"""What the trial is expected to cost that a run asks for at its start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.requested_trials import with_trial
from cupel_core.domain.estimates.run_estimate import CallsEstimate, GraderEstimate, RunEstimate, TrialEstimate

NOTHING = EstimateInterval()


def run(probes: int, usd: EstimateInterval, report_usd: float = 0.0) -> RunEstimate:
    calls = CallsEstimate("sim/bold", NOTHING, NOTHING, NOTHING, EstimateInterval(report_usd, report_usd, report_usd))
    report = EstimateInterval(report_usd, report_usd, report_usd)
    return RunEstimate(
        probes,
        usd.with_same_error(report),
        NOTHING,
        (),
        (GraderEstimate(ModelRole.REPORT, calls),) if report_usd else (),
    )


def trial(estimate: RunEstimate, scenarios: int = 1, answers: float = 1.0) -> TrialEstimate:
    found = with_trial(estimate, scenarios, answers).trial
    assert found is not None
    return found


def test_both_prompts_are_expected_to_use_three_quarters_of_what_the_scale_run_costs() -> None:
    found = trial(run(20, EstimateInterval(1.0, 2.0, 4.0)))
    assert (found.probes, found.is_within_limit) == (14, True)
    assert found.usd.expected == pytest.approx(2.0 * 14 / 20)
    assert found.usd.high == pytest.approx(4.0 * 14 / 20)


def test_the_report_is_not_made_again() -> None:
    usd = EstimateInterval(1.0, 2.0, 4.0)
    assert trial(run(20, usd, report_usd=0.5)).usd.expected == pytest.approx(trial(run(20, usd)).usd.expected)


def test_a_trial_larger_than_its_scale_run_is_not_part_of_the_total() -> None:
    estimate = with_trial(run(6, EstimateInterval(1.0, 2.0, 4.0)), 1, 1.0)
    assert estimate.trial is not None
    assert (estimate.trial.probes, estimate.trial.is_within_limit) == (10, False)
    assert estimate.total_usd == estimate.usd


def test_a_trial_within_its_limit_is_part_of_the_total_only() -> None:
    usd = EstimateInterval(1.0, 2.0, 4.0)
    estimate = with_trial(run(20, usd), 1, 1.0)
    assert estimate.usd == usd
    assert estimate.total_usd.expected == pytest.approx(2.0 + 1.4)


def test_where_all_results_are_alike_fewer_conversations_are_enough() -> None:
    """Of 1,000 conversations, a trial has at most 200: a hundred of each prompt."""
    found = trial(run(1_000, EstimateInterval(10.0, 10.0, 10.0)))
    assert found.probes == 200
    assert found.usd.low < found.usd.expected == pytest.approx(2.0)


def test_a_free_scale_run_is_tried_with_as_many_conversations() -> None:
    found = trial(run(6, NOTHING))
    assert (found.probes, found.usd, found.is_within_limit) == (10, NOTHING, True)


def test_two_to_four_scenarios_are_too_few_for_a_trial() -> None:
    assert with_trial(run(20, EstimateInterval(1.0, 2.0, 4.0)), 4, 1.0).trial is None


@given(st.integers(1, 100_000), st.integers(1, 300), st.integers(1, 20))
def test_a_trial_within_its_limit_costs_no_more_than_the_run(probes: int, scenarios: int, answers: int) -> None:
    usd = EstimateInterval(1.0, 2.0, 4.0)
    found = with_trial(run(probes, usd), scenarios, answers).trial
    if found is not None and found.is_within_limit:
        assert found.usd.low <= found.usd.expected <= found.usd.high
        assert found.usd.expected <= usd.expected
        assert found.usd.high <= usd.high
