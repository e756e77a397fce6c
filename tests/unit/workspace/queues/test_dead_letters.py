"""Dead letters of a workspace, and their redrive."""

from cupel_core.base.ids import new_id
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.dead_letters import DeadLetter, RedriveResult
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.store import barrier, runs
from cupel_core.store import dead_letters as stored
from cupel_core.store.barrier import Tree
from cupel_core.store.dead_letters import StoredDeadLetter
from cupel_core.store.settings import Settings
from cupel_core.workspace.queues import dead_letters
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, receive_bodies, ref_of, slice_message


def store(*slices: ProbeSlice, provider: str = "sim", priority: Priority = Priority.NORMAL) -> None:
    """As the sweeper does; before it has recorded the errors."""
    for probe_slice in slices:
        letter = StoredDeadLetter(new_id("msg"), provider, priority, 5, probe_slice)
        stored.save(letter, NOW)


def list_letters(workspace: str = "ws_a", provider: str | None = None) -> tuple[DeadLetter, ...]:
    return dead_letters.list_dead_letters(workspace, provider, 100, None).items


def record(run: Run, outcomes: dict[int, bool]) -> None:
    count_outcomes(Tree.for_run(run), Node(0, 0), outcomes)


def slices(url: str) -> list[ProbeSlice]:
    return [ProbeSlice.model_validate_json(body) for body in receive_bodies(url)]


def test_a_dead_letter_has_its_probes_and_its_cause(cloud: Settings) -> None:
    run = RunSetup().start()
    barrier.note_error(ref_of(run), Node(0, 0), "KeyError: 'x'")
    store(slice_message(run, [1, 2]), priority=Priority.HIGH)
    (letter,) = list_letters()
    assert (letter.provider, letter.priority, letter.run_id) == ("sim", Priority.HIGH, run.id)
    assert letter.indexes == (1, 2)
    assert letter.cause == "KeyError: 'x'"


def test_dead_letters_are_listed_page_by_page(cloud: Settings) -> None:
    run = RunSetup(scenario_count=60).start()
    store(*(slice_message(run, [index]) for index in range(25)))
    seen, cursor = [], None
    for _ in range(3):
        page = dead_letters.list_dead_letters("ws_a", None, 10, cursor)
        seen += [letter.indexes[0] for letter in page.items]
        cursor = page.next_cursor
    assert (sorted(seen), cursor) == (list(range(25)), None)


def test_dead_letters_of_other_workspaces_are_not_listed(cloud: Settings) -> None:
    store(slice_message(RunSetup(workspace="ws_b").start(), [1]))
    assert list_letters() == ()


def test_dead_letters_can_be_listed_for_one_provider(cloud: Settings) -> None:
    run = RunSetup().start()
    store(slice_message(run, [0]))
    assert list_letters(provider="openai") == ()
    assert len(list_letters(provider="sim")) == 1


def test_a_dead_letter_of_a_preset_is_sent_to_the_queue_it_came_from(cloud: Settings) -> None:
    run = RunSetup(models=("groq/llama",)).start()
    store(slice_message(run, [1]), provider="groq")
    assert dead_letters.redrive("ws_a") == RedriveResult(sent=1)
    assert slices(cloud.probe_queue_url("custom")) == [slice_message(run, [1])]


def test_a_dead_letter_is_sent_to_the_queue_it_came_from(cloud: Settings) -> None:
    run = RunSetup().start()
    store(slice_message(run, [1, 2]), priority=Priority.LOW)
    assert dead_letters.redrive("ws_a") == RedriveResult(sent=1)
    assert slices(cloud.probe_queue_url("sim", Priority.LOW)) == [slice_message(run, [1, 2])]
    assert list_letters() == ()


def test_only_what_has_no_outcome_is_sent_again(cloud: Settings) -> None:
    run = RunSetup().start()
    record(run, {1: True})
    store(slice_message(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == RedriveResult(sent=1)
    assert [probe_slice.indexes for probe_slice in slices(cloud.probe_queue_url("sim"))] == [[2]]


def test_redriving_errored_probes_names_the_run_to_retry(cloud: Settings) -> None:
    run = RunSetup().start()
    record(run, {1: False, 2: True})
    store(slice_message(run, [1, 2]))
    assert dead_letters.redrive("ws_a") == RedriveResult(dropped=1, runs_to_retry=frozenset({run.id}))
    assert receive_bodies(cloud.probe_queue_url("sim")) == []


def test_dead_letters_of_inactive_runs_are_dropped(cloud: Settings) -> None:
    paused, cancelled, deleted = (RunSetup().start() for _ in range(3))
    runs.transition(ref_of(paused), Action.PAUSE, NOW)
    runs.transition(ref_of(cancelled), Action.CANCEL, NOW)
    runs.delete(ref_of(deleted), NOW, erase_from=NOW)
    store(*(slice_message(run, [1]) for run in (paused, cancelled, deleted)))
    assert dead_letters.redrive("ws_a") == RedriveResult(dropped=3)
    assert receive_bodies(cloud.probe_queue_url("sim")) == []
    assert list_letters() == ()


def test_redriving_chosen_dead_letters_leaves_the_others(cloud: Settings) -> None:
    run = RunSetup().start()
    store(slice_message(run, [1]), slice_message(run, [2]))
    chosen = next(letter for letter in list_letters() if letter.indexes == (2,))
    assert dead_letters.redrive("ws_a", message_ids=[chosen.message_id]) == RedriveResult(sent=1)
    assert [letter.indexes for letter in list_letters()] == [(1,)]


def test_dead_letters_of_other_workspaces_stay(cloud: Settings) -> None:
    run = RunSetup(workspace="ws_b").start()
    store(slice_message(run, [1]))
    theirs = list_letters("ws_b")[0].message_id
    assert dead_letters.redrive("ws_a") == RedriveResult()
    unknown = RedriveResult(unknown_message_ids=frozenset({theirs}))
    assert dead_letters.redrive("ws_a", message_ids=[theirs]) == unknown
    assert len(list_letters("ws_b")) == 1
