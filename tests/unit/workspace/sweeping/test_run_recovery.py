from collections import Counter
from datetime import datetime, timedelta

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, PauseReason, PeriodPause, Run, RunEventType, RunStatus
from cupel_core.domain.runs.stalls import FIRST_PATIENCE
from cupel_core.runs import dispatch
from cupel_core.store import (
    active_runs,
    barrier,
    budgets,
    evaluation_settings,
    events,
    executions,
    governor,
    outbox,
    queues,
    runs,
)
from cupel_core.store.barrier import Tree
from cupel_core.store.executions import RestartResult
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.run_recovery import RecoveryAction, recover_runs
from tests.recorded_outcomes import count_outcomes
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message

LATER = NOW + timedelta(minutes=5)


def plenty() -> float:
    return 600.0


def running(given: RunSetup, cloud: Settings) -> Run:
    """A started run whose slices were sent and lost."""
    run = given.start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    while lost := queues.receive(cloud.probe_queue_url("sim"), 10):
        queues.delete(lost)
    return runs.transition(ref_of(run), Action.START, NOW)


@pytest.fixture
def restarted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs whose finishing execution was checked; it is started each time."""
    asked: list[str] = []

    def ensure(ref: object, fencing_token: int) -> RestartResult:
        asked.append(f"{ref.run_id}-{fencing_token}")  # type: ignore[attr-defined]
        return RestartResult.STARTED

    monkeypatch.setattr(executions, "ensure_finish_running", ensure)
    return asked


def test_a_run_with_missing_probes_and_silent_queues_is_dispatched_again(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    assert recover_runs(NOW, plenty) == Counter()
    assert recover_runs(NOW + timedelta(minutes=1), plenty) == Counter()
    assert recover_runs(LATER, plenty) == Counter({RecoveryAction.REDISPATCHED: 1})
    assert outbox.get(dispatch_request(run)) is not None
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]


def test_a_recovery_is_an_event_of_the_run(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    recover_runs(NOW, plenty)
    recover_runs(LATER, plenty)
    recorded = events.list_after(ref_of(run), 0)
    assert [event.seq for event in recorded] == [1, 2, 3]
    assert (recorded[-1].type, recorded[-1].data) == (RunEventType.RECOVERED, {"action": "redispatched"})


def test_a_run_whose_messages_wait_is_left_alone(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=3).start()
    dispatch.execute(dispatch_request(run), NOW, plenty)
    assert [recover_runs(moment, plenty) for moment in (NOW, LATER)] == [Counter(), Counter()]


def paused_for_its_budget(needed_nano_usd: int) -> Run:
    budget = run_budget(1.0, needed_nano_usd=needed_nano_usd)
    run = RunSetup(scenario_count=3, budget=budget).start()
    return runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET)


def test_a_run_that_was_paused_for_its_budget_resumes_when_there_is_enough_again(cloud: Settings) -> None:
    """As when a worker that was thought dead has given back what it had reserved."""
    run = paused_for_its_budget(needed_nano_usd=10**9)
    assert recover_runs(LATER, plenty) == Counter({RecoveryAction.RESUMED: 1})
    resumed = runs.get(ref_of(run))
    assert (resumed.status, resumed.pause_reason) == (RunStatus.RUNNING, None)


def test_a_run_whose_budget_is_used_up_stays_paused(cloud: Settings) -> None:
    run = paused_for_its_budget(needed_nano_usd=10**9 + 1)
    assert recover_runs(LATER, plenty) == Counter()
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


def test_a_users_pause_is_not_lifted(cloud: Settings) -> None:
    run = paused_for_its_budget(needed_nano_usd=1)
    runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.USER)
    assert recover_runs(LATER, plenty) == Counter()


def test_what_its_own_budget_once_lacked_does_not_keep_a_run_paused_for_the_day(cloud: Settings) -> None:
    budget = run_budget(1.0, needed_nano_usd=10**10)
    run = RunSetup(scenario_count=3, budget=budget).start()
    pause = PeriodPause(BudgetScope.DAY, 10**8)
    runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET, period_pause=pause)
    assert recover_runs(LATER, plenty) == Counter({RecoveryAction.RESUMED: 1})


def test_a_full_leaf_that_was_not_propagated_is_propagated(
    cloud: Settings, finish_starts: list[tuple[str, int]], restarted: list[str]
) -> None:
    run = running(RunSetup(scenario_count=150), cloud)
    tree = Tree.for_run(run)
    count_outcomes(tree, Node(0, 0), dict.fromkeys(range(100), True))
    assert recover_runs(NOW, plenty)[RecoveryAction.PROPAGATED] == 1
    assert barrier.get_inner(tree, Node(1, 0)).full_children == {0}
    assert restarted == []


def test_a_full_root_without_execution_gets_one(
    cloud: Settings, finish_starts: list[tuple[str, int]], restarted: list[str]
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    count_outcomes(Tree.for_run(run), Node(0, 0), dict.fromkeys(range(3), True))
    assert recover_runs(NOW, plenty) == Counter({RecoveryAction.FINISH_STARTED: 1})
    assert restarted == [f"{run.id}-1"]


def test_a_run_whose_finishing_keeps_dying_fails(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    monkeypatch.setattr(executions, "ensure_finish_running", lambda *_: RestartResult.GIVEN_UP)
    assert recover_runs(NOW, plenty) == Counter({RecoveryAction.FINISH_GIVEN_UP: 1})
    failed = runs.get(ref_of(run))
    assert failed.status is RunStatus.FAILED
    assert failed.failure is not None
    assert failed.failure.where == "finishing"


@pytest.mark.parametrize("action", [Action.PAUSE, Action.CANCEL])
def test_a_paused_or_cancelled_run_is_left_alone(
    cloud: Settings, finish_starts: list[tuple[str, int]], action: Action
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    runs.transition(ref_of(run), action, NOW)
    assert [recover_runs(moment, plenty) for moment in (NOW, LATER)] == [Counter(), Counter()]


def test_runs_that_are_over_are_not_checked(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run, gone = (running(RunSetup(scenario_count=3), cloud) for _ in range(2))
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    runs.delete(ref_of(gone), NOW, erase_from=NOW)
    recover_runs(NOW, plenty)
    assert list(active_runs.list_active_runs()) == []


def test_a_reopened_run_is_checked_again(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    for action in (Action.SUMMARIZE, Action.COMPLETE, Action.REOPEN):
        runs.transition(ref_of(run), action, NOW)
    assert [active.ref for active in active_runs.list_active_runs()] == [ref_of(run)]


def test_without_time_the_remaining_runs_are_left_to_the_next_sweep(
    cloud: Settings, finish_starts: list[tuple[str, int]], restarted: list[str]
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    count_outcomes(Tree.for_run(run), Node(0, 0), dict.fromkeys(range(3), True))
    assert recover_runs(NOW, lambda: 1.0) == Counter()


def test_a_run_that_cannot_be_read_does_not_keep_others_waiting(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged, intact = sorted((running(RunSetup(scenario_count=3), cloud) for _ in range(2)), key=lambda run: run.id)
    find = runs.find

    def fail_for_one(ref: RunRef) -> Run | None:
        if ref.run_id == damaged.id:
            raise RetryableError("the table is busy")
        return find(ref)

    monkeypatch.setattr(runs, "find", fail_for_one)
    recover_runs(NOW, plenty)
    assert recover_runs(LATER, plenty) == Counter({RecoveryAction.REDISPATCHED: 1})
    assert outbox.get(dispatch_request(intact)) is not None


def test_a_run_that_was_not_reached_is_the_first_of_the_next_sweep(cloud: Settings, restarted: list[str]) -> None:
    settled = sorted(summarizing(cloud).id for _ in range(3))
    for _ in settled:
        remaining = iter([600.0])
        recover_runs(NOW, lambda left=remaining: next(left, 0.0))  # type: ignore[misc]
    assert restarted == [f"{run_id}-1" for run_id in settled]


def summarizing(cloud: Settings) -> Run:
    run = running(RunSetup(scenario_count=1), cloud)
    return runs.transition(ref_of(run), Action.SUMMARIZE, NOW)


def test_a_run_without_progress_is_dispatched_again_although_its_queue_is_busy(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = running(RunSetup(scenario_count=3), cloud)
    busy_queue(cloud)
    assert recover_runs(NOW, plenty) == recover_runs(NOW + FIRST_PATIENCE / 2, plenty) == Counter()
    assert recover_runs(NOW + FIRST_PATIENCE, plenty) == Counter({RecoveryAction.REDISPATCHED: 1})
    outbox.remove(dispatch_request(run))
    assert recover_runs(NOW + 2 * FIRST_PATIENCE, plenty) == Counter()
    assert recover_runs(NOW + 3 * FIRST_PATIENCE, plenty) == Counter({RecoveryAction.REDISPATCHED: 1})


def test_a_run_whose_provider_is_paused_is_not_dispatched_again(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    running(RunSetup(scenario_count=3), cloud)
    busy_queue(cloud)
    governor.set_paused("ws_a", "sim", True)
    recover_runs(NOW, plenty)
    assert recover_runs(NOW + FIRST_PATIENCE, plenty) == Counter()


def busy_queue(cloud: Settings) -> None:
    """Another workspace's message is always in the queue."""
    other = RunSetup(workspace="ws_b").start()  # Not dispatched: the sweeper leaves it alone.
    queues.send(cloud.probe_queue_url("sim"), [slice_message(other, [0])])


def paused_for_the_workspaces_budget(needed_nano_usd: int) -> Run:
    evaluation_settings.update("ws_a", {"budget_day_usd": 1.0})
    run = RunSetup(scenario_count=3).start()
    pause = PeriodPause(BudgetScope.DAY, needed_nano_usd)
    return runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET, period_pause=pause)


def spend_on(moment: datetime, amount: int) -> None:
    limits, seconds = PeriodLimits(1.0), moment.timestamp()
    report = BudgetReport("w", {ModelRole.TARGET: amount}, 0, 0, 0, 0, seconds + 100)
    budgets.report_to_month("ws_a", limits, limits.day_at(seconds), report, seconds)


def test_a_run_resumes_when_the_day_has_ended_whose_budget_was_used_up(cloud: Settings) -> None:
    run = paused_for_the_workspaces_budget(needed_nano_usd=10)
    spend_on(LATER, 10**9)
    assert recover_runs(LATER, plenty) == Counter()
    assert runs.get(ref_of(run)).exhausted_budget is BudgetScope.DAY
    assert recover_runs(LATER + timedelta(days=1), plenty) == Counter({RecoveryAction.RESUMED: 1})
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


def test_a_run_resumes_when_the_workspaces_budget_was_raised_enough_for_its_next_call(cloud: Settings) -> None:
    run = paused_for_the_workspaces_budget(needed_nano_usd=10**9)
    spend_on(LATER, 10**9 // 2)
    evaluation_settings.update("ws_a", {"budget_day_usd": 1.4})
    assert recover_runs(LATER, plenty) == Counter()
    evaluation_settings.update("ws_a", {"budget_day_usd": 1.5})
    assert recover_runs(LATER, plenty) == Counter({RecoveryAction.RESUMED: 1})
    assert runs.get(ref_of(run)).period_pause is None


def test_a_users_pause_is_not_lifted_by_another_day(cloud: Settings) -> None:
    run = paused_for_the_workspaces_budget(needed_nano_usd=10)
    runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.USER)
    assert recover_runs(LATER + timedelta(days=1), plenty) == Counter()
