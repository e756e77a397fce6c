"""Schedules and their firings.

The item of a schedule is written first, and EventBridge Scheduler is updated second.

A crash in between leaves a schedule that is not installed; the next read or change of it installs it.

Of two concurrent changes, the one written last is also installed last, by the item's revision. Deleting marks the item
first; from then on nothing fires, even if EventBridge still invokes. A single time (`at(...)`) is installed in UTC and
removes itself. The embedded cloud polls every ten seconds, reads `cron` in UTC whatever the time zone, and passes no
scheduled time.

A firing starts exactly one run, however often and however late EventBridge Scheduler invokes it. The schedule and its
scheduled time together are the Idempotency-Key of the start, so a redelivered firing, or one whose reply was lost,
starts no second run: deliveries end within hours, and keys are remembered for a day. A firing that starts no run is
recorded with the reason. An internal error is recorded and raised, so that Lambda retries twice; after that, the firing
goes to the dead letter queue. A firing of a deleted schedule removes it from EventBridge. A schedule of an eval runs
the eval as it is at the firing; one of a definition takes the latest version, or the one that is named.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import (
    AppError,
    ClientError,
    ConfirmationRequired,
    Conflict,
    Invalid,
    NotFound,
    RetryableError,
    named_in_body,
)
from cupel_core.base.ids import new_id
from cupel_core.base.messages import DueSchedule
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.runs.run import StartedBy, StarterType
from cupel_core.domain.runs.schedule_expressions import InvalidTiming, Timing, parse_timing
from cupel_core.domain.runs.schedules import Firing, Schedule, ScheduleChanges, ScheduleSpec
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec
from cupel_core.runs.spec import scheduled_from_text, spec_to_text
from cupel_core.runs.start import start, validate
from cupel_core.runs.start_requests import run_spec
from cupel_core.store import scheduler, schedules
from cupel_core.store.clients import AWS_ERRORS

_MAX_ATTEMPTS = 8


def create(workspace: str, spec: ScheduleSpec, now: datetime) -> Schedule:
    """Create a schedule. Raise Invalid for a time that EventBridge would refuse, and what starting the run now would
    raise."""
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
    return _ensure_installed(schedules.get(workspace, schedule_id), now)


def list_schedules(workspace: str, limit: int, cursor: str | None, now: datetime) -> Page[Schedule]:
    page = schedules.list_schedules(workspace, limit, cursor)
    return page.map(lambda schedule: _ensure_installed(schedule, now))


def update(
    workspace: str,
    schedule_id: str,
    changes: ScheduleChanges,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Schedule:
    """Change the schedule. Raise Invalid as `create` does, and Conflict if its single time is over and no other is
    given."""
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
    """Read, change and write the item, again if it was changed concurrently. Raise RetryableError after many
    conflicts."""
    for _ in range(_MAX_ATTEMPTS):
        written = schedules.update(change(schedules.get(workspace, schedule_id)))
        if written is not None:
            return written
    raise _contended()


def _install(schedule: Schedule) -> Schedule:
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
    """Install the schedule if possible. A reader gets its state, not an error because EventBridge is unavailable."""
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
    name = "evalRun" if isinstance(run, EvalRunSpec) else "run"
    with named_in_body(f"{name}.evalId"):
        spec = run_spec(workspace, run)
    try:
        validate(workspace, spec, now)
    except Invalid as invalid:
        if not invalid.errors:
            raise Invalid.field(name, invalid.detail) from invalid
        raise invalid.with_fields(lambda field: f"{name}.{field}") from invalid


def fire(due: DueSchedule, now: datetime) -> Firing | None:
    """Start the run of a due schedule and record the firing. Return None if the schedule is deleted or disabled. If the
    run is refused, the firing has the error. An internal error is recorded and raised, so that the invocation is
    retried; so is Conflict while another invocation starts the same run."""
    schedule = schedules.find(due.workspace, due.schedule_id)
    if schedule is None or schedule.deleted_at is not None:
        scheduler.remove(due.schedule_id)  # Its deletion was interrupted.
        return None
    if not schedule.enabled:
        return None
    return _fire(schedule, _scheduled_time(schedule, due.scheduled_time, now), now)


def _fire(schedule: Schedule, scheduled_time: datetime, now: datetime) -> Firing:
    firing = Firing(scheduled_time, now)
    if run_id := schedule.run_started_for(scheduled_time):
        return replace(firing, run_id=run_id)
    try:
        firing = replace(firing, run_id=_start_run(schedule, scheduled_time, now))
    except ConfirmationRequired as refusal:
        firing = replace(firing, error=refusal.detail)
    except Conflict:
        raise  # Another delivery of this firing is starting the run.
    except ClientError as refusal:
        firing = replace(firing, error=refusal.detail)
    except AppError as error:
        _record(schedule, replace(firing, error=f"{error.detail}; will be retried"))
        raise
    _record(schedule, firing)
    return firing


def _start_run(schedule: Schedule, scheduled_time: datetime, now: datetime) -> str:
    """Start the run of a firing, with a key that a redelivery of the firing has, too.

    The space in the key distinguishes it from all keys that requests may have. The key is the whole request: if the run
    was changed since a delivery started it, this is still the same firing.
    """
    spec = replace(run_spec(schedule.workspace, scheduled_from_text(schedule.run)), schedule_id=schedule.id)
    started_by = StartedBy(StarterType.SCHEDULE, schedule.id, schedule.name)
    key = f"{schedule.id} {to_iso(scheduled_time)}"
    return start(schedule.workspace, spec, key, now, started_by, request=key).run.id


def _record(schedule: Schedule, firing: Firing) -> None:
    with suppress(NotFound):  # The schedule was deleted in the meantime.
        update_schedule(schedule.workspace, schedule.id, lambda current: current.with_firing(firing))


def _scheduled_time(schedule: Schedule, event_time: str, now: datetime) -> datetime:
    """Return when the firing was due. The embedded emulator sends no time. It invokes once, and at most once a
    minute."""
    if schedule.timing.at is not None:
        return schedule.timing.at
    with suppress(ValueError):
        return from_iso(event_time).astimezone(UTC)
    return now.replace(second=0, microsecond=0)
