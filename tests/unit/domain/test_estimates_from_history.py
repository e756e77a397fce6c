"""Estimates from conversations that were held before."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.estimates.history import ColumnHistory, PastConversation, predicted_sum, with_history
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.run_estimate import Basis, CallsEstimate, GraderEstimate, RunEstimate, TargetEstimate
from cupel_core.domain.turns.roles import ModelRole

RUNS = 200
ONE = EstimateInterval(0.5, 1.0, 2.0)


def calls(model: str) -> CallsEstimate:
    return CallsEstimate(model, ONE, ONE, ONE, ONE)


def past(target: float, judge: float = 0.0) -> PastConversation:
    return PastConversation(2, 100, 50, {ModelRole.TARGET: target, ModelRole.JUDGE: judge})


def estimate(*judges: str) -> RunEstimate:
    graders = tuple(GraderEstimate(ModelRole.JUDGE, calls(judge)) for judge in judges)
    return RunEstimate(100, ONE, ONE, (TargetEstimate("t", 100, calls("custom/m")),), graders)


@pytest.mark.parametrize(("known", "count"), [(10, 10), (10, 300), (30, 30), (100, 300), (100, 1_000)])
@pytest.mark.parametrize("deviation", [0.3, 0.8])
def test_at_least_nine_tenths_of_simulated_runs_cost_what_was_predicted(
    known: int, count: int, deviation: float
) -> None:
    """The costs of conversations are skewed, as those of answers of any length are."""
    rng, inside = Random(f"{known} {count} {deviation}"), 0

    def cost() -> float:
        return 0.01 * rng.lognormvariate(0.0, deviation)

    for _ in range(RUNS):
        predicted = predicted_sum([cost() for _ in range(known)], count)
        actual = sum(cost() for _ in range(count))
        inside += predicted.low <= actual <= predicted.high
    assert inside >= 0.9 * RUNS, inside


def test_what_has_always_cost_the_same_may_cost_something_else_next_time() -> None:
    """Ten equal conversations do not exclude that a quarter of all are different: 0.74 ** 10 is 0.05."""
    predicted = predicted_sum([0.5] * 10, 10)
    assert predicted.low == pytest.approx(5.0 * 0.741, abs=0.01)
    assert predicted.expected == pytest.approx(5.0)
    assert predicted.high == pytest.approx(5.0 * 1.259, abs=0.01)


def test_the_more_equal_conversations_the_narrower_the_interval() -> None:
    widths = [predicted_sum([0.5] * known, 10).high - 5.0 for known in (10, 30, 100)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(5.0 * 0.03, rel=0.02)


@given(st.lists(st.floats(0.001, 10), min_size=10, max_size=40), st.integers(1, 1_000))
def test_no_interval_is_a_point(figures: list[float], count: int) -> None:
    predicted = predicted_sum(figures, count)
    assert predicted.low < predicted.expected < predicted.high


def test_what_was_free_stays_free() -> None:
    assert predicted_sum([0.0] * 10, 10) == EstimateInterval(0.0, 0.0, 0.0)


def test_nothing_costs_less_than_nothing() -> None:
    assert predicted_sum([0.0, 0.0, 0.0, 0.0, 1.0], 1).low == 0.0


def test_figures_of_conversations_held_before_replace_assumptions() -> None:
    found = with_history(estimate("custom/j"), [ColumnHistory("t", 100, [past(0.02, 0.01)] * 10)])
    assert (found.basis, found.usd.expected) == (Basis.HISTORY, pytest.approx(3.0))
    [target] = found.targets
    assert (target.basis, target.samples, target.calls.calls.expected) == (Basis.HISTORY, 10, 200)
    assert target.calls.usd is not None
    assert target.calls.usd.expected == pytest.approx(2.0)
    assert found.graders[0].calls.usd is not None
    assert found.graders[0].calls.usd.expected == pytest.approx(1.0)


def test_no_conversation_says_what_the_report_costs() -> None:
    report = GraderEstimate(ModelRole.REPORT, calls("custom/j"))
    found = with_history(replace(estimate(), graders=(report,)), [ColumnHistory("t", 100, [past(0.02)] * 10)])
    assert (found.graders, found.usd.expected) == ((report,), pytest.approx(2.0 + 1.0))


def test_models_of_one_role_share_what_it_cost() -> None:
    found = with_history(estimate("custom/j", "custom/k"), [ColumnHistory("t", 100, [past(0.02, 0.01)] * 10)])
    assert [each.calls.usd and each.calls.usd.expected for each in found.graders] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("known", [0, 9])
def test_too_few_conversations_change_nothing(known: int) -> None:
    columns = [ColumnHistory("t", 100, [past(0.02)] * 10), ColumnHistory("u", 100, [past(0.02)] * known)]
    assert with_history(estimate(), columns) == estimate()


def test_the_bounds_of_columns_are_added() -> None:
    """They answer the same scenarios, so both may be dearer than expected."""
    column = ColumnHistory("t", 100, [past(0.01), past(0.02)] * 5)
    one, both = with_history(estimate(), [column]), with_history(estimate(), [column, column])
    assert both.usd.high == pytest.approx(2 * one.usd.high)
