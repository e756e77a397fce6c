from dataclasses import replace
from datetime import timedelta

import pytest

from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.limits.provider_status import ProviderStatus, SuspendedModel
from cupel_core.domain.runs.delays import Delay, DelayReason, delays_of
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import PauseCause, Priority, Run, RunStatus
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from tests.started_runs import NOW

LATER = NOW + timedelta(seconds=30)
RUN = Run(
    "ws",
    "run",
    "def",
    1,
    Plan(plain_targets("a/x", "a/y"), (3,)),
    100,
    1,
    "key",
    NOW,
    NOW,
    "rating",
    3,
    3,
    status=RunStatus.RUNNING,
)
FREE = ProviderStatus(limit=10)


def test_nothing_holds_up_a_target_of_a_free_provider() -> None:
    assert delays_of(RUN, "a/x", {"a": FREE}) == ()


def test_a_paused_queue_a_block_and_a_learned_limit_hold_up_every_target_of_the_provider() -> None:
    status = ProviderStatus(paused=True, blocked_until=LATER, limit=10, learned_limit=4)
    expected = (
        Delay(DelayReason.QUEUE_PAUSED, "a"),
        Delay(DelayReason.THROTTLED, "a", until=LATER),
        Delay(DelayReason.LEARNED_LIMIT, "a", limit=10, learned_limit=4),
    )
    assert delays_of(RUN, "a/x", {"a": status}) == expected
    assert delays_of(RUN, "a/y", {"a": status}) == expected


def test_a_suspended_model_holds_up_only_its_own_target() -> None:
    status = replace(FREE, suspended_models=(SuspendedModel("a/x", LATER, "no such key"),))
    [delay] = delays_of(RUN, "a/x", {"a": status})
    assert delay == Delay(DelayReason.MODEL_SUSPENDED, "a", model="a/x", until=LATER, message="no such key")
    assert delays_of(RUN, "a/y", {"a": status}) == ()


def test_a_suspended_judge_holds_up_every_target() -> None:
    judged = replace(RUN, grader_config=GraderConfig(judge_model="b/judge"))
    status = replace(FREE, suspended_models=(SuspendedModel("b/judge", LATER, "overloaded"),))
    assert [delay.model for delay in delays_of(judged, "a/x", {"a": FREE, "b": status})] == ["b/judge"]


def test_a_paused_run_waits_for_nothing_else() -> None:
    paused = replace(RUN, status=RunStatus.PAUSED, pause_cause=PauseCause("a/x", "no such key"))
    assert delays_of(paused, "a/y", {}) == (Delay(DelayReason.RUN_PAUSED, model="a/x", message="no such key"),)
    by_user = replace(paused, pause_cause=None)
    assert delays_of(by_user, "a/y", {}) == (Delay(DelayReason.RUN_PAUSED),)


def test_a_run_that_has_ended_waits_for_nothing() -> None:
    assert delays_of(replace(RUN, status=RunStatus.COMPLETED), "a/x", {}) == ()


HIGH, NORMAL, LOW = Priority.HIGH, Priority.NORMAL, Priority.LOW


@pytest.mark.parametrize(
    ("demands", "taken"),
    [
        ({}, 0),
        ({NORMAL: 40, LOW: 40}, 0),
        ({HIGH: 4, NORMAL: 6}, 0),
        ({HIGH: 4, NORMAL: 7}, 4),
        ({HIGH: 9}, 0),
        ({HIGH: 10}, 10),
        ({HIGH: 100, NORMAL: 1}, 10),
    ],
)
def test_work_of_a_higher_priority_slows_a_run_down_whose_calls_it_leaves_too_few_slots(
    demands: dict[Priority, int], taken: int
) -> None:
    delays = delays_of(RUN, "a/x", {"a": replace(FREE, slots=10, demands=demands)})
    expected = Delay(DelayReason.HIGHER_PRIORITY, "a", limit=10, taken_slots=taken)
    assert delays == ((expected,) if taken else ())


def test_nothing_has_precedence_over_a_run_of_high_priority() -> None:
    status = replace(FREE, slots=10, demands={HIGH: 50, NORMAL: 50})
    assert delays_of(replace(RUN, priority=HIGH), "a/x", {"a": status}) == ()
    [delay] = delays_of(replace(RUN, priority=LOW), "a/x", {"a": replace(status, demands={HIGH: 3, NORMAL: 5, LOW: 9})})
    assert delay.taken_slots == 8


@pytest.mark.parametrize("closed", [{"paused": True}, {"blocked_until": LATER}])
def test_no_priority_matters_while_an_account_makes_no_calls(closed: dict[str, object]) -> None:
    status = replace(ProviderStatus(limit=10, slots=10, demands={HIGH: 50}), **closed)
    assert DelayReason.HIGHER_PRIORITY not in [delay.reason for delay in delays_of(RUN, "a/x", {"a": status})]


def test_slots_reserved_for_chats_slow_runs_down_that_could_use_them() -> None:
    reserving = replace(FREE, slots=18, reserved_slots=2, demands={NORMAL: 19})
    assert delays_of(RUN, "a/x", {"a": reserving}) == (
        Delay(DelayReason.CHAT_RESERVATION, "a", limit=20, taken_slots=2),
    )
    assert delays_of(RUN, "a/x", {"a": replace(reserving, demands={NORMAL: 18})}) == ()


@pytest.mark.parametrize(("queued", "running", "limit"), [(1, 3, 3), (1, 4, 3), (1, 2, None), (0, 3, None)])
def test_a_run_limits_itself_while_probes_are_queued(queued: int, running: int, limit: int | None) -> None:
    own = replace(RUN, max_concurrency=3)
    expected = (Delay(DelayReason.RUN_LIMIT, limit=limit),) if limit else ()
    assert delays_of(own, "a/x", {"a": FREE}, queued=queued, running=running) == expected


def test_a_learned_limit_does_not_slow_a_run_down_that_limits_itself() -> None:
    own, learned = replace(RUN, max_concurrency=3), replace(FREE, learned_limit=1)
    assert [each.reason for each in delays_of(own, "a/x", {"a": learned}, queued=9, running=3)] == [
        DelayReason.RUN_LIMIT
    ]
    assert [each.reason for each in delays_of(own, "a/x", {"a": learned}, queued=9, running=1)] == [
        DelayReason.LEARNED_LIMIT
    ]


def test_gaps_between_starts_hold_up_every_queued_probe() -> None:
    own = replace(RUN, stagger_ms=(200, 400))
    assert delays_of(own, "a/x", {"a": FREE}, queued=1) == (Delay(DelayReason.RUN_LIMIT, stagger_ms=(200, 400)),)


def test_an_account_that_no_worker_has_used_has_no_slots_to_take() -> None:
    assert ProviderStatus().taken_slots(LOW) == 0


def test_a_budget_of_which_others_have_the_rest_holds_up_every_target() -> None:
    status = replace(FREE, learned_limit=4)
    [budget, limit] = delays_of(RUN, "a/x", {"a": status}, BudgetScope.DAY)
    assert (budget, limit.reason) == (Delay(DelayReason.BUDGET, budget=BudgetScope.DAY), DelayReason.LEARNED_LIMIT)


def test_a_target_whose_probes_have_an_outcome_waits_for_neither_budget_nor_slots() -> None:
    status = replace(FREE, slots=10, demands={HIGH: 50})
    assert delays_of(RUN, "a/x", {"a": status}, BudgetScope.RUN, is_complete=True) == ()


def test_a_run_that_is_paused_or_has_ended_waits_for_no_budget() -> None:
    paused, ended = replace(RUN, status=RunStatus.PAUSED), replace(RUN, status=RunStatus.COMPLETED)
    assert delays_of(paused, "a/x", {}, BudgetScope.RUN) == (Delay(DelayReason.RUN_PAUSED),)
    assert delays_of(ended, "a/x", {}, BudgetScope.RUN) == ()
