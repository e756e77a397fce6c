"""Schedules: the item is written first, EventBridge Scheduler is updated second.

A crash in between leaves a schedule that is not installed; the next read or change of it installs it.

Of two concurrent changes, the one written last is also installed last, by the item's revision. Deleting marks the item
first; from then on nothing fires, even if EventBridge still invokes. A single time (`at(...)`) is installed in UTC and
removes itself. The embedded cloud polls every ten seconds, reads `cron` in UTC whatever the time zone, and passes no
scheduled time.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from cupel_core.base.errors import AppError, Conflict, Invalid, NotFound, RetryableError, named_in_body
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.runs.schedule_expressions import InvalidTiming, Timing, parse_timing
from cupel_core.domain.runs.schedules import Schedule, ScheduleChanges, ScheduleSpec
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec
from cupel_core.runs.eval_runs import current_spec
from cupel_core.runs.spec import spec_to_text
from cupel_core.runs.start import validate
from cupel_core.store import scheduler, schedules
from cupel_core.store.clients import AWS_ERRORS

_MAX_ATTEMPTS = 8


def create(workspace: str, spec: ScheduleSpec, now: datetime) -> Schedule:
    """Raises Invalid for a time that EventBridge would not accept, and what starting the run now would raise."""
    timing = _parse_timing(spec.expression, spec.timezone)
    if timing.is_over(now):
        raise Invalid.field("expression", "is in the past")
    _check_run(workspace, spec.run, now)
    schedule = Schedule(
        workspace=workspace,
        id=new_id("sch"),
        name=spec.name,
        timing=timing,
        run=spec_to_text(spec.run),
        enabled=spec.enabled,
        created_at=now,
        updated_at=now,
    )
    schedules.create(schedule)
    try:
        return _install(schedule)
    except Invalid:
        schedules.erase(schedule.workspace, schedule.id)
        raise


def get(workspace: str, schedule_id: str, now: datetime) -> Schedule:
    """NotFound for an unknown or deleted schedule."""
    return _ensure_installed(schedules.get(workspace, schedule_id), now)


def list_schedules(workspace: str, limit: int, cursor: str | None, now: datetime) -> Page[Schedule]:
    """Newest first."""
    page = schedules.list_schedules(workspace, limit, cursor)
    return page.map(lambda schedule: _ensure_installed(schedule, now))


def update(
    workspace: str,
    schedule_id: str,
    changes: ScheduleChanges,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Schedule:
    """Change the schedule. Invalid as `create`; Conflict if its single time is over and no other is given."""
    if changes.run is not None:
        _check_run(workspace, changes.run, now)

    def change(schedule: Schedule) -> Schedule:
        precondition.check(etag(schedule.revision))
        return _changed(schedule, changes, now)

    return _install(update_schedule(workspace, schedule_id, change))


def delete(workspace: str, schedule_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Delete the schedule. It no longer fires, even if EventBridge cannot be reached; deleting again retries that."""

    def mark_deleted(current: Schedule) -> Schedule:
        precondition.check(etag(current.revision))
        return replace(current, deleted_at=now, updated_at=now)

    schedule = schedules.find(workspace, schedule_id)
    if schedule is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    if schedule.deleted_at is None:
        with suppress(NotFound):
            update_schedule(workspace, schedule_id, mark_deleted)
    scheduler.remove(schedule_id)


def update_schedule(workspace: str, schedule_id: str, change: Callable[[Schedule], Schedule]) -> Schedule:
    """Read, change and write the item, again if it was changed concurrently. RetryableError after many conflicts."""
    for _ in range(_MAX_ATTEMPTS):
        written = schedules.update(change(schedules.get(workspace, schedule_id)))
        if written is not None:
            return written
    raise _contended()


def _install(schedule: Schedule) -> Schedule:
    """Update EventBridge Scheduler until it matches the item."""
    for _ in range(_MAX_ATTEMPTS):
        scheduler.install(schedule)
        written = schedules.update(replace(schedule, installed=True))
        if written is not None:
            return written
        current = schedules.find(schedule.workspace, schedule.id)
        if current is None or current.deleted_at is not None:
            scheduler.remove(schedule.id)
            raise NotFound(f"there is no schedule {schedule.id}")
        schedule = current
    raise _contended()


def _contended() -> RetryableError:
    return RetryableError("the schedule is being changed concurrently; try again")


def _ensure_installed(schedule: Schedule, now: datetime) -> Schedule:
    """Installs the schedule if possible: a reader gets its state, not an error because EventBridge is unavailable."""
    if not schedule.installed and not schedule.timing.is_over(now):
        with suppress(AppError, *AWS_ERRORS):
            return _install(schedule)
    return schedule


def _changed(schedule: Schedule, changes: ScheduleChanges, now: datetime) -> Schedule:
    timing = schedule.timing
    if changes.expression is not None or changes.timezone is not None:
        timing = _parse_timing(changes.expression or timing.expression, changes.timezone or timing.timezone)
        if timing.is_over(now):
            raise Invalid.field("expression", "is in the past")
    if timing.is_over(now):
        raise Conflict("the time of this schedule is over; set another expression or create a new schedule")
    return replace(
        schedule,
        name=changes.name or schedule.name,
        timing=timing,
        run=spec_to_text(changes.run) if changes.run else schedule.run,
        enabled=schedule.enabled if changes.enabled is None else changes.enabled,
        installed=False,
        updated_at=now,
    )


def _parse_timing(expression: str, timezone: str) -> Timing:
    try:
        return parse_timing(expression, timezone)
    except InvalidTiming as invalid:
        raise Invalid.field(invalid.field, str(invalid)) from invalid


def _check_run(workspace: str, run: RunSpec | EvalRunSpec, now: datetime) -> None:
    """Raises Invalid with the run's fields below `run` or `evalRun`."""
    name = "evalRun" if isinstance(run, EvalRunSpec) else "run"
    with named_in_body(f"{name}.evalId"):
        spec = current_spec(workspace, run)
    try:
        validate(workspace, spec, now)
    except Invalid as invalid:
        if not invalid.errors:
            raise Invalid.field(name, invalid.detail) from invalid
        raise invalid.with_fields(lambda field: f"{name}.{field}") from invalid
