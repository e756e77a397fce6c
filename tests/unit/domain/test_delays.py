from dataclasses import replace
from datetime import timedelta

from cupel_core.domain.limits.provider_status import ProviderStatus, SuspendedModel
from cupel_core.domain.runs.delays import Delay, DelayReason, delays_of
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import PauseCause, Run, RunStatus
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from tests.started_runs import NOW

LATER = NOW + timedelta(seconds=30)
RUN = Run(
    "ws", "run", "def", 1, Plan(plain_targets("a/x", "a/y"), (3,)), 100, 1, "key", NOW, NOW, status=RunStatus.RUNNING
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
