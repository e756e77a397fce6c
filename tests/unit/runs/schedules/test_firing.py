"""A due schedule starts exactly one run, or records why it cannot."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cupel_core.base.errors import Conflict, RetryableError
from cupel_core.base.messages import DueSchedule
from cupel_core.definitions import catalog
from cupel_core.domain.runs.run import Run, StartedBy, StarterType
from cupel_core.domain.runs.schedules import Firing, Schedule, ScheduleChanges
from cupel_core.runs.schedules import schedules
from cupel_core.runs.schedules.schedules import fire
from cupel_core.runs.spec import spec_from_text
from cupel_core.store import idempotency_keys, runs
from cupel_core.store import schedules as stored
from cupel_core.store.scheduler import SCHEDULED_TIME
from tests.unit.runs.schedules.conftest import NOW, WORKSPACE, Make, installed

DUE = datetime(2026, 11, 20, 13, tzinfo=UTC)


def due(schedule: Schedule, time: str = "2026-11-20T13:00:00Z") -> DueSchedule:
    return DueSchedule(workspace=schedule.workspace, schedule_id=schedule.id, scheduled_time=time)


def started(schedule_id: str | None = None) -> list[Run]:
    found = runs.list_runs(
        WORKSPACE,
        definition_id=None,
        experiment_id=None,
        schedule_id=schedule_id,
        status=None,
        limit=50,
        cursor=None,
    )
    return list(found.items)


def fails(*_: object, **__: object) -> None:
    raise RetryableError("the table is busy")


def firings(schedule: Schedule) -> tuple[Firing, ...]:
    found = stored.find(WORKSPACE, schedule.id)
    assert found
    return found.firings


def test_a_firing_starts_the_run_of_its_schedule(make: Make) -> None:
    schedule = make(repeats=2, params={"temperature": 0.5})
    told = fire(due(schedule), NOW)
    (run,) = started(schedule.id)
    assert told == Firing(DUE, NOW, run_id=run.id)
    assert run.started_by == StartedBy(StarterType.SCHEDULE, schedule.id, schedule.name)
    assert (run.schedule_id, run.plan.total, run.params) == (schedule.id, 6, {"temperature": 0.5})


def test_a_firing_is_recorded_in_the_schedule(make: Make) -> None:
    schedule = make()
    fire(due(schedule), NOW)
    assert firings(schedule) == (Firing(DUE, NOW, run_id=started()[0].id),)


def test_a_firing_that_is_delivered_twice_starts_one_run(make: Make) -> None:
    schedule = make()
    first, second = fire(due(schedule), NOW), fire(due(schedule), NOW + timedelta(minutes=3))
    assert first
    assert second
    assert first.run_id == second.run_id
    assert len(started()) == len(firings(schedule)) == 1


def test_a_crash_before_the_firing_was_recorded_starts_no_second_run(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = make()
    with monkeypatch.context() as context:
        context.setattr(schedules, "_record", fails)
        with pytest.raises(RetryableError):
            fire(due(schedule), NOW)
    again = fire(due(schedule), NOW)
    assert again
    assert [run.id for run in started()] == [again.run_id]


def test_a_firing_whose_run_was_changed_after_a_crash_starts_no_second_run(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = make()
    with monkeypatch.context() as crash:
        crash.setattr(schedules, "_record", fails)
        with pytest.raises(RetryableError):
            fire(due(schedule), NOW)
    (run,) = started()
    changed = replace(spec_from_text(schedule.run), repeats=3)
    schedules.update(WORKSPACE, schedule.id, ScheduleChanges(run=changed), NOW)
    fire(due(schedule), NOW + timedelta(minutes=1))
    assert [(each.run_id, each.error) for each in firings(schedule)] == [(run.id, None)]
    assert len(started()) == 1


def test_a_firing_is_remembered_longer_than_its_key(make: Make) -> None:
    schedule = make()
    first = fire(due(schedule), NOW)
    again = fire(due(schedule), NOW + idempotency_keys.RETENTION + timedelta(hours=1))
    assert first
    assert again
    assert again.run_id == first.run_id
    assert len(started()) == 1


def test_two_firings_start_two_runs(make: Make) -> None:
    schedule = make()
    for time in ("2026-11-20T13:00:00Z", "2026-11-20T14:00:00Z"):
        fire(due(schedule, time), NOW)
    assert len({run.id for run in started(schedule.id)}) == 2


def test_two_schedules_of_one_time_start_a_run_each(make: Make) -> None:
    for schedule in (make(), make()):
        fire(due(schedule), NOW)
    assert len(started()) == 2


def test_a_single_time_needs_no_scheduled_time_in_the_event(make: Make) -> None:
    schedule = make("at(2026-11-20T14:00:00)", "Europe/Berlin")
    told = fire(due(schedule, SCHEDULED_TIME), NOW)
    assert told
    assert told.scheduled_time == DUE


def test_without_a_scheduled_time_it_is_the_current_minute(make: Make) -> None:
    schedule = make()
    for seconds in (0, 20):
        fire(due(schedule, SCHEDULED_TIME), NOW + timedelta(seconds=seconds))
    assert [each.scheduled_time for each in firings(schedule)] == [NOW.replace(second=0)]


def test_a_deleted_definition_is_recorded_as_the_error(make: Make, definition_id: str) -> None:
    schedule = make()
    catalog.delete(WORKSPACE, definition_id, NOW)
    told = fire(due(schedule), NOW)
    assert told
    assert (told.run_id, told.error) == (None, f"definitionId: there is no definition {definition_id}")
    assert (firings(schedule), started()) == ((told,), [])


def test_an_internal_error_is_recorded_and_raised(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make()
    with monkeypatch.context() as context:
        context.setattr(schedules, "start", fails)
        with pytest.raises(RetryableError):
            fire(due(schedule), NOW)
    assert [each.error for each in firings(schedule)] == ["the table is busy; will be retried"]
    fire(due(schedule), NOW)
    assert [each.run_id for each in firings(schedule)] == [run.id for run in started()]


def test_a_firing_that_is_being_started_elsewhere_is_retried(make: Make) -> None:
    schedule = make()
    key = f"{schedule.id} 2026-11-20T13:00:00.000Z"
    idempotency_keys.reserve(WORKSPACE, key, key, "run_other", NOW)
    with pytest.raises(Conflict):
        fire(due(schedule), NOW)
    assert firings(schedule) == ()


def test_a_disabled_schedule_starts_nothing(make: Make) -> None:
    schedule = make()
    schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=False), NOW)
    assert fire(due(schedule), NOW) is None
    assert started() == []


def test_a_deleted_schedule_starts_nothing_and_leaves_eventbridge(make: Make) -> None:
    schedule = make()
    stored.update(replace(stored.get(WORKSPACE, schedule.id), deleted_at=NOW))
    assert fire(due(schedule), NOW) is None
    assert (started(), installed()) == ([], [])


def test_a_firing_of_another_workspace_starts_nothing(make: Make) -> None:
    schedule = make()
    assert fire(due(replace(schedule, workspace="ws_b")), NOW) is None
    assert started() == []
