"""Schedules as people see them. The item is written first and EventBridge is told after; a crash in between leaves a
schedule that is not installed, which the next look at it, or the next change, installs."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from cupel_core.domain.runs.schedule_expressions import Timing, WrongTiming, timing
from cupel_core.domain.runs.schedules import Schedule
from cupel_core.errors import AppError, Conflict, FieldError, Invalid, NotFound, RetryableError
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.runs.spec import RunSpec
from cupel_core.runs.start import check
from cupel_core.store import scheduler, schedules
from cupel_core.store.clients import AWS_ERRORS

_ROUNDS = 8


@dataclass(frozen=True)
class ScheduleSpec:
    """What is asked for."""

    name: str
    expression: str
    timezone: str
    enabled: bool
    run: RunSpec


def create(workspace: str, spec: ScheduleSpec, now: datetime) -> Schedule:
    """Raises Invalid for a time that EventBridge would not take, and what a start would raise now for the run."""
    when = _timing(spec)
    if when.is_over(now):
        raise Invalid.field("expression", "this time is over")
    _check_run(workspace, spec.run, now)
    schedule = Schedule(
        workspace=workspace,
        id=new_id("sch"),
        name=spec.name,
        timing=when,
        run=spec.run.to_text(),
        enabled=spec.enabled,
        created_at=now,
        updated_at=now,
    )
    schedules.create(schedule)
    try:
        return _install(schedule)
    except Invalid:
        schedules.discard(schedule)
        raise


def get(workspace: str, schedule_id: str, now: datetime) -> Schedule:
    return _repaired(schedules.get(workspace, schedule_id), now)


def listed(workspace: str, limit: int, cursor: str | None, now: datetime) -> Page[Schedule]:
    """Newest first."""
    page = schedules.listed(workspace, limit, cursor)
    return Page(tuple(_repaired(schedule, now) for schedule in page.items), page.next_cursor)


def enable(workspace: str, schedule_id: str, now: datetime, *, enabled: bool) -> Schedule:
    """Lets it fire, or not. Conflict when its single time is over."""

    def changed(schedule: Schedule) -> Schedule:
        if schedule.timing.is_over(now):
            raise Conflict("the time of this schedule is over; make a new one")
        return replace(schedule, enabled=enabled, installed=False, updated_at=now)

    return _install(change(workspace, schedule_id, changed))


def delete(workspace: str, schedule_id: str, now: datetime) -> None:
    """Nothing fires from here on, also when EventBridge could not be told; deleting again tells it again."""
    found = schedules.find(workspace, schedule_id)
    if found is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    if found.deleted_at is None:
        with suppress(NotFound):
            change(workspace, schedule_id, lambda schedule: replace(schedule, deleted_at=now, updated_at=now))
    scheduler.remove(schedule_id)


def change(workspace: str, schedule_id: str, changed: Callable[[Schedule], Schedule]) -> Schedule:
    """Reads, changes and writes the schedule, again when somebody else was faster."""
    for _ in range(_ROUNDS):
        written = schedules.replace_with(changed(schedules.get(workspace, schedule_id)))
        if written is not None:
            return written
    raise RetryableError("the schedule is being changed by others; try again")


def _install(schedule: Schedule) -> Schedule:
    """Tells EventBridge what the item says, until both say the same."""
    for _ in range(_ROUNDS):
        scheduler.put(schedule)
        written = schedules.replace_with(replace(schedule, installed=True))
        if written is not None:
            return written
        current = schedules.find(schedule.workspace, schedule.id)
        if current is None or current.deleted_at is not None:
            scheduler.remove(schedule.id)
            raise NotFound(f"there is no schedule {schedule.id}")
        schedule = current
    raise RetryableError("the schedule is being changed by others; try again")


def _repaired(schedule: Schedule, now: datetime) -> Schedule:
    """Installed, if it can be now: whoever looks at a schedule learns how it is, not why EventBridge is away."""
    if not schedule.installed and not schedule.timing.is_over(now):
        with suppress(AppError, *AWS_ERRORS):
            return _install(schedule)
    return schedule


def _timing(spec: ScheduleSpec) -> Timing:
    try:
        return timing(spec.expression, spec.timezone)
    except WrongTiming as wrong:
        raise Invalid.field(wrong.field, str(wrong)) from wrong


def _check_run(workspace: str, run: RunSpec, now: datetime) -> None:
    try:
        check(workspace, run, now)
    except Invalid as invalid:
        errors = tuple(FieldError(f"run.{error.field}", error.message) for error in invalid.errors)
        raise Invalid(invalid.detail, errors or (FieldError("run", invalid.detail),)) from invalid
