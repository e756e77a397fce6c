"""Estimates from conversations that were held before."""

from dataclasses import replace

import pytest

from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.history import ColumnHistory, PastConversation, with_history
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.run_estimate import Basis, CallsEstimate, GraderEstimate, RunEstimate, TargetEstimate

ONE = EstimateInterval(0.5, 1.0, 2.0)


def calls(model: str) -> CallsEstimate:
    return CallsEstimate(model, ONE, ONE, ONE, ONE)


def past(target: float, judge: float = 0.0, scenario: int = 0) -> PastConversation:
    return PastConversation(scenario, 2, 100, 50, {ModelRole.TARGET: target, ModelRole.JUDGE: judge})


def history(*conversations: PastConversation, target: str = "t", scenarios: int = 1) -> ColumnHistory:
    return ColumnHistory(target, 100, range(scenarios), conversations)


def estimate(*judges: str) -> RunEstimate:
    graders = tuple(GraderEstimate(ModelRole.JUDGE, calls(judge)) for judge in judges)
    return RunEstimate(100, ONE, ONE, (TargetEstimate("t", 100, calls("custom/m")),), graders)


def test_figures_of_conversations_held_before_replace_assumptions() -> None:
    found = with_history(estimate("custom/j"), [history(*[past(0.02, 0.01)] * 10)])
    assert (found.basis, found.usd.expected) == (Basis.HISTORY, pytest.approx(3.0))
    [target] = found.targets
    assert (target.basis, target.samples, target.calls.calls.expected) == (Basis.HISTORY, 10, 200)
    assert target.calls.usd is not None
    assert target.calls.usd.expected == pytest.approx(2.0)
    assert found.graders[0].calls.usd is not None
    assert found.graders[0].calls.usd.expected == pytest.approx(1.0)


def test_no_conversation_says_what_the_report_costs() -> None:
    report = GraderEstimate(ModelRole.REPORT, calls("custom/j"))
    found = with_history(replace(estimate(), graders=(report,)), [history(*[past(0.02)] * 10)])
    assert (found.graders, found.usd.expected) == ((report,), pytest.approx(2.0 + 1.0))


def test_models_of_one_role_share_what_it_cost() -> None:
    found = with_history(estimate("custom/j", "custom/k"), [history(*[past(0.02, 0.01)] * 10)])
    assert [each.calls.usd and each.calls.usd.expected for each in found.graders] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("known", [0, 9])
def test_too_few_conversations_change_nothing(known: int) -> None:
    columns = [history(*[past(0.02)] * 10), history(*[past(0.02)] * known, target="u")]
    assert with_history(estimate(), columns) == estimate()


@pytest.mark.parametrize(
    ("known", "scenarios", "basis"),
    [
        (4, 100, Basis.DEFAULT),
        (5, 100, Basis.HISTORY),
        (4, 4, Basis.HISTORY),
        (1, 1, Basis.HISTORY),
        (1, 2, Basis.DEFAULT),
    ],
)
def test_few_scenarios_say_nothing_about_others(known: int, scenarios: int, basis: Basis) -> None:
    conversations = [past(0.02, scenario=number % known) for number in range(20)]
    assert with_history(estimate(), [history(*conversations, scenarios=scenarios)]).basis is basis


def test_the_upper_bound_has_what_a_budget_sets_aside_for_the_unseen() -> None:
    """Three of a hundred conversations may be unlike all known ones: then they cost as much as two calls may."""
    reserving = replace(calls("custom/m"), reserved_usd=1.0)
    found = with_history(
        replace(estimate(), targets=(TargetEstimate("t", 100, reserving),)), [history(*[past(0.02)] * 100)]
    )
    unseen = 1 - 0.05 ** (1 / 100)
    [target] = found.targets
    assert target.calls.usd is not None
    assert target.calls.usd.high == pytest.approx(100 * (0.02 + unseen * (2 * 1.0 - 0.02)))


def test_graders_count_among_what_a_conversation_may_cost() -> None:
    judge = GraderEstimate(ModelRole.JUDGE, replace(calls("custom/j"), calls=EstimateInterval(1, 100, 300)))
    reserving = replace(judge, calls=replace(judge.calls, reserved_usd=0.5))
    found = with_history(replace(estimate(), graders=(reserving,)), [history(*[past(0.02, 0.01)] * 100)])
    unseen = 1 - 0.05 ** (1 / 100)
    [grader] = found.graders
    assert grader.calls.usd is not None
    assert grader.calls.usd.high == pytest.approx(100 * (0.01 + unseen * (3 * 0.5 - 0.01)))


def test_the_bounds_of_columns_are_added() -> None:
    """They answer the same scenarios, so both may be dearer than expected."""
    column = history(*[past(0.01), past(0.02)] * 5)
    one, both = with_history(estimate(), [column]), with_history(estimate(), [column, column])
    assert both.usd.high == pytest.approx(2 * one.usd.high)
