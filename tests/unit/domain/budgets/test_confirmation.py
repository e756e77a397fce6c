"""What is said of a run that must be confirmed."""

import pytest

from cupel_core.domain.budgets.confirmation import excess_reason, needs_confirmation, sufficient_usd
from cupel_core.domain.estimates.intervals import EstimateInterval

ESTIMATE = EstimateInterval(0.05, 0.1, 0.2)


@pytest.mark.parametrize(
    ("runs", "calls"), [(1, "a call of it needs"), (2, "a call of each of its 2 runs, together, needs")]
)
def test_what_the_last_calls_need_is_said_of_all_runs(runs: int, calls: str) -> None:
    reason = excess_reason("the trial", ESTIMATE, 0.08, 0.15, "its budget of $0.15", runs)
    assert reason == (
        "the trial is expected to cost $0.1 (from $0.05 to $0.2), "
        f"and {calls} up to $0.08 in hand: together more than its budget of $0.15"
    )


def test_an_expected_cost_above_the_budget_is_reason_enough() -> None:
    reason = excess_reason("the run", ESTIMATE, 0.08, 0.0000001, "its budget of $0.0000001")
    assert reason == "the run is expected to cost $0.1 (from $0.05 to $0.2), more than its budget of $0.0000001"


@pytest.mark.parametrize("expected", [0.1, 0.0000004, 0.0123456789, 1_234.5678911])
@pytest.mark.parametrize("reserved_usd", [0.0, 0.08, 0.0409600001])
def test_what_is_said_to_be_enough_is(expected: float, reserved_usd: float) -> None:
    estimate = EstimateInterval(expected, expected, expected)
    enough = sufficient_usd(estimate, reserved_usd)
    assert not needs_confirmation(estimate, enough, None, reserved_usd)
    if enough:
        assert needs_confirmation(estimate, enough - 0.000002, None, reserved_usd)
