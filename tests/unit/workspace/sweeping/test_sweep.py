"""The sweep of stale dispatches and dead letters."""

from datetime import timedelta

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, Priority, Progress, Run
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.store import barrier, checkpoints, clients, dead_letters, outcomes, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.sweep import sweep
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message


def plenty() -> float:
    return 600.0


def test_a_dead_slice_is_recorded_as_errored_with_its_cause(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3).start()
    barrier.note_error(ref_of(run), Node(0, 0), "KeyError: 'x'")
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True})
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0, 1, 2])])
    assert sweep(NOW, plenty).dead_letters.errored == 2
    dead = outcomes.get(ref_of(run), 1)
    assert isinstance(dead, ProbeError)
    assert dead.code is ProbeErrorCode.DEAD_LETTER
    assert "KeyError: 'x'" in dead.message
    assert barrier.get_progress(Tree.for_run(run)) == Progress(3, completed=1, failed=2)
    assert finish_starts == [(run.id, 1)]


def test_a_dead_probe_has_spent_what_its_conversation_had_cost(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=1).start()
    state = ConversationState((), turns=2, usage=Usage(10, 5), cost_usd=0.03, judge_spend=Spend(1, Usage(), 0.02))
    checkpoints.save(ref_of(run), 0, 1, state, NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0])])
    sweep(NOW, plenty)
    dead = outcomes.get(ref_of(run), 0)
    assert isinstance(dead, ProbeError)
    assert dead.spending.total == Spend(3, Usage(10, 5), 0.05)


def test_a_dead_probe_of_one_call_started_when_its_last_worker_called(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run, now = RunSetup(scenario_count=1).start(), NOW.timestamp()
    for name, since in (("first", now - 90), ("second", now - 60)):
        claim = Claim(frozenset({0}), since + 30, since - 5, {0: since})
        barrier.acquire(ref_of(run), Node(0, 0), name, claim, [0], since)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0])])
    sweep(NOW, plenty)
    dead = outcomes.get(ref_of(run), 0)
    assert isinstance(dead, ProbeError)
    assert dead.started_at == NOW - timedelta(seconds=60)


def test_a_recorded_dead_letter_moves_to_its_workspace(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=3).start()
    queues.send(cloud.probe_dlq_url("sim", Priority.HIGH), [slice_message(run, [1])])
    assert [sweep(NOW, plenty).dead_letters.errored for _ in range(2)] == [1, 0]
    assert receive_bodies(cloud.probe_dlq_url("sim", Priority.HIGH)) == []
    (letter,) = dead_letters.list_all("ws_a")
    assert (letter.priority, letter.probe_slice) == (Priority.HIGH, slice_message(run, [1]))


def test_more_than_a_hundred_dead_letters_are_recorded_in_one_sweep(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=130).start()
    letters = [slice_message(run, [index], index // 100) for index in range(130)]
    queues.send(cloud.probe_dlq_url("sim"), letters)
    assert sweep(NOW, plenty).dead_letters.errored == 130
    assert finish_starts == [(run.id, 1)]


def test_dead_letters_that_cannot_be_processed_do_not_keep_others_waiting(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged, intact = (RunSetup(scenario_count=3).start() for _ in range(2))
    get = runs.get

    def fail_for_one(ref: RunRef, **options: bool) -> Run:
        if ref.run_id == damaged.id:
            raise RetryableError("the table is busy")
        return get(ref, **options)

    monkeypatch.setattr(runs, "get", fail_for_one)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(damaged, [1]), slice_message(intact, [1])])
    assert sweep(NOW, plenty).dead_letters.errored == 1
    assert len(receive_bodies(cloud.probe_dlq_url("sim"))) == 1


def test_a_dead_letter_of_a_shared_queue_belongs_to_its_own_provider(cloud: Settings) -> None:
    run = RunSetup(models=("custom-gpu/llama",)).start()
    queues.send(cloud.probe_dlq_url("custom"), [slice_message(run, [1])])
    assert sweep(NOW, plenty).dead_letters.errored == 1
    (letter,) = dead_letters.list_all("ws_a")
    assert letter.provider == "custom-gpu"


def test_dead_letters_of_a_deleted_run_are_deleted(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    assert sweep(NOW, plenty).dead_letters.errored == 0
    assert receive_bodies(cloud.probe_dlq_url("sim")) == []


def test_dead_letters_leave_time_for_recovery(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    assert sweep(NOW, lambda: 12.0).dead_letters.errored == 0
    assert len(receive_bodies(cloud.probe_dlq_url("sim"))) == 1


def test_a_dead_slice_of_a_run_that_is_over_changes_nothing(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3).start()
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    assert sweep(NOW, plenty).dead_letters.errored == 0


def test_a_dead_letter_of_a_cancelled_run_counts_what_its_conversation_has_cost(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=1).start()
    checkpoints.save(ref_of(run), 0, 1, ConversationState((), turns=2, cost_usd=0.03), NOW)
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0])])
    sweep(NOW, plenty)
    assert barrier.get_state(Tree.for_run(run)).spend.recorded.priced_usd == 0.03


def test_a_dead_letter_stays_in_its_queue_while_a_worker_has_claimed_its_probes(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    """The worker may be dead: after a cancellation, only this message leads to what its conversations have cost."""
    run, now = RunSetup(scenario_count=2).start(), NOW.timestamp()
    checkpoints.save(ref_of(run), 0, 1, ConversationState((), turns=1, usage=Usage(10, 5), cost_usd=0.03), NOW)
    barrier.acquire(ref_of(run), Node(0, 0), "dead", Claim(frozenset({0}), now + 30, now), [0], now)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0, 1])])
    assert sweep(NOW, plenty).dead_letters.errored == 1
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    sweep(NOW + timedelta(minutes=1), plenty)
    assert receive_bodies(cloud.probe_dlq_url("sim")) == []
    assert barrier.get_state(Tree.for_run(run)).spend.recorded.priced_usd == 0.03


def test_an_unreadable_dead_letter_is_counted(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    clients.sqs().send_message(QueueUrl=cloud.probe_dlq_url("sim"), MessageBody="no json")
    assert sweep(NOW, plenty).dead_letters.unreadable == 1


def test_a_stale_dispatch_is_sent_again(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    assert sweep(NOW + timedelta(minutes=1), plenty).dispatched == 0
    assert sweep(NOW + timedelta(minutes=3), plenty).dispatched == 1
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]


def test_dead_letters_are_recorded_although_stale_dispatches_cannot_be_resent(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3).start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    clients.sqs().delete_queue(QueueUrl=cloud.dispatch_queue_url)
    result = sweep(NOW + timedelta(minutes=3), plenty)
    assert (result.dispatched, result.dead_letters.errored) == (0, 1)
