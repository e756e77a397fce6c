"""Dead letters as their workspace sees them, and what becomes of them when they are redriven."""

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.messages import ProbeSlice
from cupel_core.queues import dead_letters
from cupel_core.queues.dead_letters import Redriven
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, queues, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, Given, ref_of, slice_of, waiting


def bury(cloud: Settings, *pieces: ProbeSlice, provider: str = "sim", priority: Priority = Priority.NORMAL) -> None:
    queues.send(cloud.probe_dlq_url(provider, priority), pieces)


def record(run: Run, outcomes: dict[int, bool]) -> None:
    barrier.record(Tree.of(run), Node(0, 0), outcomes)


def pieces(url: str) -> list[ProbeSlice]:
    return [ProbeSlice.model_validate_json(body) for body in waiting(url)]


def test_a_letter_tells_its_probes_and_its_cause(cloud: Settings) -> None:
    run = Given().start()
    barrier.blame(ref_of(run), Node(0, 0), "KeyError: 'x'")
    bury(cloud, slice_of(run, [1, 2]), priority=Priority.HIGH)
    (letter,) = dead_letters.dead("ws_a")
    assert (letter.lane, letter.piece.run_id, letter.piece.indexes) == (("sim", Priority.HIGH), run.id, [1, 2])
    assert letter.cause == "KeyError: 'x'"


def test_all_letters_are_seen_and_stay(cloud: Settings) -> None:
    run = Given(scenario_count=60).start()
    bury(cloud, *(slice_of(run, [index]) for index in range(25)))
    seen = [{letter.piece.indexes[0] for letter in dead_letters.dead("ws_a")} for _ in range(2)]
    assert seen == [set(range(25))] * 2


def test_letters_of_others_and_of_nobody_are_not_shown(cloud: Settings) -> None:
    bury(cloud, slice_of(Given(workspace="ws_b").start(), [1]))
    clients.sqs().send_message(QueueUrl=cloud.probe_dlq_url("sim"), MessageBody="no slice")
    assert dead_letters.dead("ws_a") == ()


def test_letters_of_one_provider_are_asked_for(cloud: Settings) -> None:
    run = Given().start()
    bury(cloud, slice_of(run, [0]))
    assert dead_letters.dead("ws_a", "openai") == ()
    assert len(dead_letters.dead("ws_a", "sim")) == 1


def test_a_letter_is_sent_again_to_the_queue_it_came_from(cloud: Settings) -> None:
    run = Given().start()
    bury(cloud, slice_of(run, [1, 2]), priority=Priority.LOW)
    assert dead_letters.redrive("ws_a") == Redriven(sent=1)
    assert pieces(cloud.probe_queue_url("sim", Priority.LOW)) == [slice_of(run, [1, 2])]
    assert waiting(cloud.probe_dlq_url("sim", Priority.LOW)) == []


def test_only_what_has_no_outcome_is_sent_again(cloud: Settings) -> None:
    run = Given().start()
    record(run, {1: True})
    bury(cloud, slice_of(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == Redriven(sent=1)
    assert [piece.indexes for piece in pieces(cloud.probe_queue_url("sim"))] == [[2]]


def test_a_letter_whose_probes_are_errored_says_which_run_to_retry(cloud: Settings) -> None:
    run = Given().start()
    record(run, {1: False, 2: True})
    bury(cloud, slice_of(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == Redriven(dropped=1, to_retry=frozenset({run.id}))
    assert waiting(cloud.probe_queue_url("sim")) == []


def test_letters_of_runs_that_went_on_without_them_are_dropped(cloud: Settings) -> None:
    paused, cancelled, deleted = (Given().start() for _ in range(3))
    runs.move(ref_of(paused), Action.PAUSE, NOW)
    runs.move(ref_of(cancelled), Action.CANCEL, NOW)
    runs.delete(ref_of(deleted), NOW)
    bury(cloud, *(slice_of(run, [1]) for run in (paused, cancelled, deleted)))
    assert dead_letters.redrive("ws_a") == Redriven(dropped=3)
    assert waiting(cloud.probe_queue_url("sim")) == waiting(cloud.probe_dlq_url("sim")) == []


def test_chosen_letters_leave_the_others_where_they_are(cloud: Settings) -> None:
    run = Given().start()
    bury(cloud, slice_of(run, [1]), slice_of(run, [2]))
    chosen = next(letter for letter in dead_letters.dead("ws_a") if letter.piece.indexes == [2])
    assert dead_letters.redrive("ws_a", message_ids=[chosen.delivery.id]) == Redriven(sent=1)
    assert [letter.piece.indexes for letter in dead_letters.dead("ws_a")] == [[1]]


def test_letters_of_others_stay_where_they_are(cloud: Settings) -> None:
    run = Given(workspace="ws_b").start()
    bury(cloud, slice_of(run, [1]))
    theirs = dead_letters.dead("ws_b")[0].delivery.id
    assert dead_letters.redrive("ws_a") == dead_letters.redrive("ws_a", message_ids=[theirs]) == Redriven()
    assert len(dead_letters.dead("ws_b")) == 1
