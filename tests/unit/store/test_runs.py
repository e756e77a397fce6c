from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Creation
from cupel_core.domain.runs.run import Action, IllegalTransition, RunEventType, RunStatus
from cupel_core.store import events, listing, outbox, runs
from cupel_core.store.run_items import RunItem
from cupel_core.store.settings import Settings
from cupel_core.store.table import connection
from tests.started_runs import NOW, RunSetup, dispatch_request, ref_of


def test_a_run_is_read_as_it_was_created(cloud: Settings) -> None:
    run = RunSetup(models=("sim/steady", "sim/bold"), repeats=2).start()
    assert runs.get(ref_of(run)) == run


def test_creating_a_run_writes_its_first_event_and_its_dispatch(cloud: Settings) -> None:
    run = RunSetup().start()
    assert [(event.seq, event.type) for event in events.list_after(ref_of(run), 0)] == [(1, RunEventType.CREATED)]
    assert outbox.get(dispatch_request(run)) is not None


def test_every_transition_has_its_event_and_seq_has_no_gaps(cloud: Settings) -> None:
    run = RunSetup().start()
    for action in (Action.START, Action.PAUSE, Action.RESUME, Action.SUMMARIZE, Action.COMPLETE):
        runs.transition(ref_of(run), action, NOW)
    written = events.list_after(ref_of(run), 0)
    assert [event.seq for event in written] == [1, 2, 3, 4, 5, 6]
    assert written[-1].data == {"from": "SUMMARIZING", "to": "COMPLETED"}


def test_a_transition_the_table_does_not_have_changes_nothing(cloud: Settings) -> None:
    run = RunSetup().start()
    with pytest.raises(IllegalTransition):
        runs.transition(ref_of(run), Action.COMPLETE, NOW)
    assert runs.get(ref_of(run)) == run
    assert len(events.list_after(ref_of(run), 0)) == 1


def test_a_transition_with_an_old_fencing_token_is_refused(cloud: Settings) -> None:
    run = RunSetup().start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    with pytest.raises(Conflict):
        runs.transition(ref_of(run), Action.RESUME, NOW, fencing_token=1)


def test_a_resumed_run_has_a_dispatch_with_its_new_fencing_token(cloud: Settings) -> None:
    run = RunSetup().start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    resumed = runs.transition(ref_of(run), Action.RESUME, NOW)
    assert resumed.fencing_token == 3
    assert outbox.get(dispatch_request(resumed)) is not None


def test_a_transition_sets_further_fields(cloud: Settings) -> None:
    run = RunSetup().start()
    runs.transition(ref_of(run), Action.START, NOW, started_at=NOW)
    assert runs.get(ref_of(run)) == replace(run, status=RunStatus.RUNNING, started_at=NOW, event_seq=2, updated_at=NOW)


@contextmanager
def lost_response() -> Iterator[None]:
    """The response of the next transaction is lost, and botocore sends it again; moto ignores the request's token."""
    events, attempts = connection().client.meta.events, count()

    def retry_once(**_: object) -> int | None:
        return 0 if next(attempts) == 0 else None

    events.register_first("needs-retry.dynamodb.TransactWriteItems", retry_once)
    yield
    events.unregister("needs-retry.dynamodb.TransactWriteItems", retry_once)


def test_a_transition_whose_response_was_lost_succeeds(cloud: Settings) -> None:
    run = RunSetup().start()
    with lost_response():
        paused = runs.transition(ref_of(run), Action.PAUSE, NOW.replace(microsecond=123_456))
    assert paused.status is RunStatus.PAUSED
    assert runs.get(ref_of(run)).event_seq == 2


def test_a_run_of_another_workspace_is_not_found(cloud: Settings) -> None:
    run = RunSetup().start()
    with pytest.raises(NotFound):
        runs.get(RunRef("ws_b", run.id))


def test_a_deleted_run_is_neither_found_nor_listed(cloud: Settings) -> None:
    run = RunSetup().start()
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    with pytest.raises(NotFound):
        runs.get(ref_of(run))
    page = runs.list_runs("ws_a", limit=10, cursor=None)
    assert page.items == ()


def test_runs_are_listed_newest_first_in_pages(cloud: Settings) -> None:
    started = [RunSetup().start() for _ in range(5)]
    first = runs.list_runs("ws_a", limit=3, cursor=None)
    second = runs.list_runs("ws_a", limit=3, cursor=first.next_cursor)
    assert [run.id for run in (*first.items, *second.items)] == [run.id for run in reversed(started)]
    assert second.next_cursor is None


def test_a_list_with_a_rare_filter_stops_after_a_bounded_number_of_runs(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = RunSetup().start()
    for _ in range(4):
        RunSetup().start()
    monkeypatch.setattr(listing, "MAX_EXAMINED", 2)
    monkeypatch.setattr(listing, "_EXAMINED_PER_READ", 2)
    first = runs.list_runs("ws_a", definition_id=oldest.definition_id, limit=10, cursor=None)
    second = runs.list_runs("ws_a", definition_id=oldest.definition_id, limit=10, cursor=first.next_cursor)
    third = runs.list_runs("ws_a", definition_id=oldest.definition_id, limit=10, cursor=second.next_cursor)
    assert (first.items, second.items, [run.id for run in third.items]) == ((), (), [oldest.id])
    assert third.next_cursor is None


def test_a_list_with_a_filter_goes_on_oldest_first_where_it_stopped(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, newest = [RunSetup().start() for _ in range(3)]
    monkeypatch.setattr(listing, "MAX_EXAMINED", 2)
    monkeypatch.setattr(listing, "_EXAMINED_PER_READ", 2)
    wanted = newest.definition_id
    first = runs.list_runs("ws_a", definition_id=wanted, limit=10, cursor=None, created=Creation(oldest_first=True))
    second = runs.list_runs(
        "ws_a", definition_id=wanted, limit=10, cursor=first.next_cursor, created=Creation(oldest_first=True)
    )
    assert (first.items, [run.id for run in second.items]) == ((), [newest.id])


@pytest.mark.parametrize(("filters", "page_size"), [({}, 4), ({"status": RunStatus.RUNNING}, 250)])
def test_a_list_asks_the_table_for_no_more_than_it_needs(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, filters: dict[str, RunStatus], page_size: int
) -> None:
    query, page_sizes = RunItem.query, list[int]()

    def recording_query(*args: Any, **options: Any) -> Any:
        page_sizes.append(options["page_size"])
        return query(*args, **options)

    monkeypatch.setattr(RunItem, "query", recording_query)
    runs.list_runs("ws_a", **filters, limit=3, cursor=None)
    assert page_sizes == [page_size]


def test_runs_are_listed_by_definition_and_status(cloud: Settings) -> None:
    run, other = RunSetup().start(), RunSetup().start()
    runs.transition(ref_of(run), Action.START, NOW)

    def run_ids(**conditions: object) -> list[str]:
        filters = {"definition_id": None, "experiment_id": None, "status": None} | conditions
        return [run.id for run in runs.list_runs("ws_a", **filters, limit=10, cursor=None).items]  # type: ignore[arg-type]

    assert run_ids(definition_id=other.definition_id) == [other.id]
    assert run_ids(status=RunStatus.RUNNING) == [run.id]
