from datetime import timedelta

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Progress
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, outcomes, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.sweeping.sweep import sweep
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message


def plenty() -> float:
    return 600.0


def test_a_dead_slice_is_recorded_as_errored_with_its_cause(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3).start()
    barrier.note_error(ref_of(run), Node(0, 0), "KeyError: 'x'")
    barrier.record(Tree.for_run(run), Node(0, 0), {0: True})
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [0, 1, 2])])
    assert sweep(NOW, plenty).errored == 2
    dead = outcomes.get(ref_of(run), 1)
    assert isinstance(dead, ProbeError)
    assert dead.code is ProbeErrorCode.DEAD_LETTER
    assert "KeyError: 'x'" in dead.message
    assert barrier.get_progress(Tree.for_run(run)) == Progress(3, completed=1, failed=2)
    assert finish_starts == [(run.id, 1)]


def test_a_dead_letter_stays_and_is_counted_once(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=3).start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    assert [sweep(NOW, plenty).errored for _ in range(2)] == [1, 0]
    assert len(receive_bodies(cloud.probe_dlq_url("sim"))) == 1


def test_a_dead_slice_of_a_run_that_is_over_changes_nothing(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3).start()
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_message(run, [1])])
    assert sweep(NOW, plenty).errored == 0


def test_an_unreadable_dead_letter_is_counted(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    clients.sqs().send_message(QueueUrl=cloud.probe_dlq_url("sim"), MessageBody="no json")
    assert sweep(NOW, plenty).unreadable == 1


def test_a_stale_dispatch_is_sent_again(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    assert sweep(NOW + timedelta(minutes=1), plenty).dispatched == 0
    assert sweep(NOW + timedelta(minutes=3), plenty).dispatched == 1
    assert receive_bodies(cloud.dispatch_queue_url) == [dispatch_request(run).to_body()]
