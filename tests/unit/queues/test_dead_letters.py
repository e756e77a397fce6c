"""Dead letters of a workspace, and their redrive."""

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.dead_letters import RedriveResult
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.messages import ProbeSlice
from cupel_core.queues import dead_letters
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, queues, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, RunSetup, receive_bodies, ref_of, slice_message


def send_to_dlq(
    cloud: Settings, *slices: ProbeSlice, provider: str = "sim", priority: Priority = Priority.NORMAL
) -> None:
    queues.send(cloud.probe_dlq_url(provider, priority), slices)


def record(run: Run, outcomes: dict[int, bool]) -> None:
    barrier.record(Tree.for_run(run), Node(0, 0), outcomes)


def slices(url: str) -> list[ProbeSlice]:
    return [ProbeSlice.model_validate_json(body) for body in receive_bodies(url)]


def test_a_dead_letter_has_its_probes_and_its_cause(cloud: Settings) -> None:
    run = RunSetup().start()
    barrier.note_error(ref_of(run), Node(0, 0), "KeyError: 'x'")
    send_to_dlq(cloud, slice_message(run, [1, 2]), priority=Priority.HIGH)
    (letter,) = dead_letters.list_dead_letters("ws_a")
    assert (letter.provider, letter.priority, letter.run_id) == ("sim", Priority.HIGH, run.id)
    assert letter.indexes == (1, 2)
    assert letter.cause == "KeyError: 'x'"


def test_all_dead_letters_are_listed_and_stay(cloud: Settings) -> None:
    run = RunSetup(scenario_count=60).start()
    send_to_dlq(cloud, *(slice_message(run, [index]) for index in range(25)))
    seen = [{letter.indexes[0] for letter in dead_letters.list_dead_letters("ws_a")} for _ in range(2)]
    assert seen == [set(range(25))] * 2


def test_dead_letters_of_other_workspaces_and_unreadable_ones_are_not_listed(cloud: Settings) -> None:
    send_to_dlq(cloud, slice_message(RunSetup(workspace="ws_b").start(), [1]))
    clients.sqs().send_message(QueueUrl=cloud.probe_dlq_url("sim"), MessageBody="no slice")
    assert dead_letters.list_dead_letters("ws_a") == ()


def test_dead_letters_can_be_listed_for_one_provider(cloud: Settings) -> None:
    run = RunSetup().start()
    send_to_dlq(cloud, slice_message(run, [0]))
    assert dead_letters.list_dead_letters("ws_a", "openai") == ()
    assert len(dead_letters.list_dead_letters("ws_a", "sim")) == 1


def test_a_dead_letter_is_sent_to_the_queue_it_came_from(cloud: Settings) -> None:
    run = RunSetup().start()
    send_to_dlq(cloud, slice_message(run, [1, 2]), priority=Priority.LOW)
    assert dead_letters.redrive("ws_a") == RedriveResult(sent=1)
    assert slices(cloud.probe_queue_url("sim", Priority.LOW)) == [slice_message(run, [1, 2])]
    assert receive_bodies(cloud.probe_dlq_url("sim", Priority.LOW)) == []


def test_only_what_has_no_outcome_is_sent_again(cloud: Settings) -> None:
    run = RunSetup().start()
    record(run, {1: True})
    send_to_dlq(cloud, slice_message(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == RedriveResult(sent=1)
    assert [probe_slice.indexes for probe_slice in slices(cloud.probe_queue_url("sim"))] == [[2]]


def test_redriving_errored_probes_names_the_run_to_retry(cloud: Settings) -> None:
    run = RunSetup().start()
    record(run, {1: False, 2: True})
    send_to_dlq(cloud, slice_message(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == RedriveResult(dropped=1, runs_to_retry=frozenset({run.id}))
    assert receive_bodies(cloud.probe_queue_url("sim")) == []


def test_dead_letters_of_inactive_runs_are_dropped(cloud: Settings) -> None:
    paused, cancelled, deleted = (RunSetup().start() for _ in range(3))
    runs.transition(ref_of(paused), Action.PAUSE, NOW)
    runs.transition(ref_of(cancelled), Action.CANCEL, NOW)
    runs.delete(ref_of(deleted), NOW, erase_from=NOW)
    send_to_dlq(cloud, *(slice_message(run, [1]) for run in (paused, cancelled, deleted)))
    assert dead_letters.redrive("ws_a") == RedriveResult(dropped=3)
    assert receive_bodies(cloud.probe_queue_url("sim")) == receive_bodies(cloud.probe_dlq_url("sim")) == []


def test_redriving_chosen_dead_letters_leaves_the_others(cloud: Settings) -> None:
    run = RunSetup().start()
    send_to_dlq(cloud, slice_message(run, [1]), slice_message(run, [2]))
    chosen = next(letter for letter in dead_letters.list_dead_letters("ws_a") if letter.indexes == (2,))
    assert dead_letters.redrive("ws_a", message_ids=[chosen.message_id]) == RedriveResult(sent=1)
    assert [letter.indexes for letter in dead_letters.list_dead_letters("ws_a")] == [(1,)]


def test_dead_letters_of_other_workspaces_stay(cloud: Settings) -> None:
    run = RunSetup(workspace="ws_b").start()
    send_to_dlq(cloud, slice_message(run, [1]))
    theirs = dead_letters.list_dead_letters("ws_b")[0].message_id
    assert dead_letters.redrive("ws_a") == dead_letters.redrive("ws_a", message_ids=[theirs]) == RedriveResult()
    assert len(dead_letters.list_dead_letters("ws_b")) == 1
