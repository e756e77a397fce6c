from datetime import timedelta

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Progress
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, outcomes, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.sweeping.sweep import sweep
from tests.started_runs import NOW, Given, order_of, ref_of, slice_of, waiting


def plenty() -> float:
    return 600.0


def test_a_dead_slice_is_recorded_as_errored_with_its_cause(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=3).start()
    barrier.blame(ref_of(run), Node(0, 0), "KeyError: 'x'")
    barrier.record(Tree.of(run), Node(0, 0), {0: True})
    queues.send(cloud.probe_dlq_url("sim"), [slice_of(run, [0, 1, 2])])
    assert sweep(NOW, plenty).errored == 2
    dead = outcomes.get(ref_of(run), 1)
    assert isinstance(dead, ProbeError)
    assert dead.code is ErrorCode.DEAD_LETTER
    assert "KeyError: 'x'" in dead.message
    assert barrier.progress(Tree.of(run)) == Progress(3, completed=1, failed=2)
    assert finishing == [(run.id, 1)]


def test_a_dead_letter_stays_and_is_counted_once(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=3).start()
    queues.send(cloud.probe_dlq_url("sim"), [slice_of(run, [1])])
    assert [sweep(NOW, plenty).errored for _ in range(2)] == [1, 0]
    assert len(waiting(cloud.probe_dlq_url("sim"))) == 1


def test_a_dead_slice_of_a_run_that_is_over_changes_nothing(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=3).start()
    runs.move(ref_of(run), Action.CANCEL, NOW)
    queues.send(cloud.probe_dlq_url("sim"), [slice_of(run, [1])])
    assert sweep(NOW, plenty).errored == 0


def test_a_letter_that_names_no_run_is_told(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    clients.sqs().send_message(QueueUrl=cloud.probe_dlq_url("sim"), MessageBody="no json")
    assert sweep(NOW, plenty).unreadable == 1


def test_a_forgotten_dispatch_is_ordered_again(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given().start()
    assert sweep(NOW + timedelta(minutes=1), plenty).dispatched == 0
    assert sweep(NOW + timedelta(minutes=3), plenty).dispatched == 1
    assert waiting(cloud.dispatch_queue_url) == [order_of(run).to_body()]
