from collections import Counter
from datetime import timedelta

import pytest

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, EventType, Run, RunStatus
from cupel_core.runs import dispatch
from cupel_core.settings import Settings
from cupel_core.store import active_runs, barrier, events, executions, outbox, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.executions import Revival
from cupel_core.sweeping.recovery import Recovery, recover
from tests.started_runs import NOW, Given, order_of, ref_of, waiting

LATER = NOW + timedelta(minutes=5)


def plenty() -> float:
    return 600.0


def running(given: Given, cloud: Settings) -> Run:
    """A started run whose slices were sent and lost."""
    run = given.start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    while lost := queues.receive(cloud.probe_queue_url("sim"), 10):
        queues.delete(lost)
    return runs.move(ref_of(run), Action.START, NOW)


@pytest.fixture
def revived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs whose finish was asked to be alive; it is started each time."""
    asked: list[str] = []

    def revive(ref: object, epoch: int) -> Revival:
        asked.append(f"{ref.run_id}-{epoch}")  # type: ignore[attr-defined]
        return Revival.STARTED

    monkeypatch.setattr(executions, "revive", revive)
    return asked


def test_a_run_with_missing_probes_and_silent_queues_is_dispatched_again(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    run = running(Given(scenario_count=3), cloud)
    assert recover(NOW, plenty) == Counter()
    assert recover(NOW + timedelta(minutes=1), plenty) == Counter()
    assert recover(LATER, plenty) == Counter({Recovery.REDISPATCHED: 1})
    assert outbox.get(order_of(run)) is not None
    assert waiting(cloud.dispatch_queue_url) == [order_of(run).to_body()]


def test_a_recovery_is_an_event_of_the_run(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = running(Given(scenario_count=3), cloud)
    recover(NOW, plenty)
    recover(LATER, plenty)
    told = events.after(ref_of(run), 0)
    assert [event.seq for event in told] == [1, 2, 3]
    assert (told[-1].type, told[-1].data) == (EventType.RECOVERED, {"action": "redispatched"})


def test_a_run_whose_messages_wait_is_left_alone(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=3).start()
    dispatch.carry_out(order_of(run), NOW, plenty)
    assert [recover(moment, plenty) for moment in (NOW, LATER)] == [Counter(), Counter()]


def test_a_full_leaf_that_was_not_told_is_told(
    cloud: Settings, finishing: list[tuple[str, int]], revived: list[str]
) -> None:
    run = running(Given(scenario_count=150), cloud)
    tree = Tree.of(run)
    barrier.record(tree, Node(0, 0), dict.fromkeys(range(100), True))
    assert recover(NOW, plenty)[Recovery.TOLD] == 1
    assert barrier.inner(tree, Node(1, 0)).full_children == {0}
    assert revived == []


def test_a_full_root_without_execution_gets_one(
    cloud: Settings, finishing: list[tuple[str, int]], revived: list[str]
) -> None:
    run = running(Given(scenario_count=3), cloud)
    barrier.record(Tree.of(run), Node(0, 0), dict.fromkeys(range(3), True))
    assert recover(NOW, plenty) == Counter({Recovery.FINISH_STARTED: 1})
    assert revived == [f"{run.id}-1"]


def test_a_finish_that_dies_again_and_again_fails_the_run(
    cloud: Settings, finishing: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = running(Given(scenario_count=3), cloud)
    runs.move(ref_of(run), Action.SUMMARIZE, NOW)
    monkeypatch.setattr(executions, "revive", lambda *_: Revival.GIVEN_UP)
    assert recover(NOW, plenty) == Counter({Recovery.FINISH_GIVEN_UP: 1})
    failed = runs.get(ref_of(run))
    assert failed.status is RunStatus.FAILED
    assert failed.failure is not None
    assert failed.failure.where == "finishing"


@pytest.mark.parametrize("action", [Action.PAUSE, Action.CANCEL])
def test_a_run_that_nobody_waits_for_is_left_alone(
    cloud: Settings, finishing: list[tuple[str, int]], action: Action
) -> None:
    run = running(Given(scenario_count=3), cloud)
    runs.move(ref_of(run), action, NOW)
    assert [recover(moment, plenty) for moment in (NOW, LATER)] == [Counter(), Counter()]


def test_runs_that_are_over_are_not_looked_at(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run, gone = (running(Given(scenario_count=3), cloud) for _ in range(2))
    runs.move(ref_of(run), Action.CANCEL, NOW)
    runs.delete(ref_of(gone), NOW)
    recover(NOW, plenty)
    assert list(active_runs.every()) == []


def test_a_reopened_run_is_looked_at_again(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = running(Given(scenario_count=3), cloud)
    for action in (Action.SUMMARIZE, Action.COMPLETE, Action.REOPEN):
        runs.move(ref_of(run), action, NOW)
    assert [standing.ref for standing in active_runs.every()] == [ref_of(run)]


def test_short_of_time_the_rest_is_left_to_the_next_minute(
    cloud: Settings, finishing: list[tuple[str, int]], revived: list[str]
) -> None:
    run = running(Given(scenario_count=3), cloud)
    barrier.record(Tree.of(run), Node(0, 0), dict.fromkeys(range(3), True))
    assert recover(NOW, lambda: 1.0) == Counter()
