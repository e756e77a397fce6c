from dataclasses import replace

import pytest

from cupel_core.domain.runs.run import Action, EventType, IllegalMove, RunStatus
from cupel_core.errors import Conflict, NotFound
from cupel_core.messages import RunRef
from cupel_core.settings import Settings
from cupel_core.store import events, outbox, runs
from tests.started_runs import NOW, Given, order_of, ref_of


def test_a_run_is_read_as_it_was_created(cloud: Settings) -> None:
    run = Given(models=("sim/steady", "sim/bold"), repeats=2).start()
    assert runs.get(ref_of(run)) == run


def test_creating_a_run_writes_its_first_event_and_its_dispatch(cloud: Settings) -> None:
    run = Given().start()
    assert [(event.seq, event.type) for event in events.after(ref_of(run), 0)] == [(1, EventType.CREATED)]
    assert outbox.get(order_of(run)) is not None


def test_every_move_has_its_event_and_seq_has_no_gaps(cloud: Settings) -> None:
    run = Given().start()
    for action in (Action.START, Action.PAUSE, Action.RESUME, Action.SUMMARIZE, Action.COMPLETE):
        runs.move(ref_of(run), action, NOW)
    told = events.after(ref_of(run), 0)
    assert [event.seq for event in told] == [1, 2, 3, 4, 5, 6]
    assert told[-1].data == {"from": "SUMMARIZING", "to": "COMPLETED"}


def test_a_move_the_table_does_not_have_changes_nothing(cloud: Settings) -> None:
    run = Given().start()
    with pytest.raises(IllegalMove):
        runs.move(ref_of(run), Action.COMPLETE, NOW)
    assert runs.get(ref_of(run)) == run
    assert len(events.after(ref_of(run), 0)) == 1


def test_a_move_of_an_old_epoch_is_refused(cloud: Settings) -> None:
    run = Given().start()
    runs.move(ref_of(run), Action.PAUSE, NOW)
    with pytest.raises(Conflict):
        runs.move(ref_of(run), Action.RESUME, NOW, epoch=1)


def test_a_resumed_run_has_a_dispatch_of_its_new_epoch(cloud: Settings) -> None:
    run = Given().start()
    runs.move(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.move(ref_of(run), Action.RESUME, NOW)
    assert resumed.epoch == 3
    assert outbox.get(order_of(resumed)) is not None


def test_a_move_sets_what_goes_with_it(cloud: Settings) -> None:
    run = Given().start()
    runs.move(ref_of(run), Action.START, NOW, started_at=NOW)
    assert runs.get(ref_of(run)) == replace(run, status=RunStatus.RUNNING, started_at=NOW, event_seq=2, updated_at=NOW)


def test_a_run_of_another_workspace_is_not_found(cloud: Settings) -> None:
    run = Given().start()
    with pytest.raises(NotFound):
        runs.get(RunRef("ws_b", run.id))


def test_a_deleted_run_is_not_found_nor_listed(cloud: Settings) -> None:
    run = Given().start()
    runs.delete(ref_of(run), NOW)
    with pytest.raises(NotFound):
        runs.get(ref_of(run))
    page = runs.listed("ws_a", limit=10, cursor=None)
    assert page.items == ()


def test_runs_are_listed_newest_first_in_pages(cloud: Settings) -> None:
    started = [Given().start() for _ in range(5)]
    first = runs.listed("ws_a", limit=3, cursor=None)
    rest = runs.listed("ws_a", limit=3, cursor=first.next_cursor)
    assert [run.id for run in (*first.items, *rest.items)] == [run.id for run in reversed(started)]
    assert rest.next_cursor is None


def test_runs_are_listed_by_definition_and_status(cloud: Settings) -> None:
    run, other = Given().start(), Given().start()
    runs.move(ref_of(run), Action.START, NOW)

    def listed(**wanted: object) -> list[str]:
        filters = {"definition_id": None, "experiment_id": None, "status": None} | wanted
        return [each.id for each in runs.listed("ws_a", **filters, limit=10, cursor=None).items]  # type: ignore[arg-type]

    assert listed(definition_id=other.definition_id) == [other.id]
    assert listed(status=RunStatus.RUNNING) == [run.id]
