"""What happens when a schedule is due: exactly one run, however often and however late EventBridge says so."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.schedules import Firing, Schedule
from cupel_core.errors import AppError, ClientError, Conflict, NotFound
from cupel_core.messages import DueSchedule
from cupel_core.runs.spec import RunSpec
from cupel_core.runs.start import start
from cupel_core.schedules.schedules import change
from cupel_core.store import scheduler, schedules


def fire(due: DueSchedule, now: datetime) -> Firing | None:
    """The firing as it is told in the schedule; None for a schedule that is deleted or disabled.

    What cannot be started is told as the firing's error. An error of ours is told as well, and raised, so that
    whoever called calls again.
    """
    schedule = schedules.find(due.workspace, due.schedule_id)
    if schedule is None or schedule.deleted_at is not None:
        scheduler.remove(due.schedule_id)  # Its deletion stopped half-way.
        return None
    if not schedule.enabled:
        return None
    return _fire(schedule, _scheduled_time(schedule, due.scheduled_time, now), now)


def _fire(schedule: Schedule, scheduled_time: datetime, now: datetime) -> Firing:
    told = Firing(scheduled_time, now)
    if run_id := schedule.started(scheduled_time):
        return replace(told, run_id=run_id)
    try:
        told = replace(told, run_id=_start(schedule, scheduled_time, now))
    except Conflict:
        raise  # Another delivery of this firing is starting the run.
    except ClientError as refusal:
        told = replace(told, error=refusal.detail)
    except AppError as ours:
        _tell(schedule, replace(told, error=f"{ours.detail}; tried again"))
        raise
    _tell(schedule, told)
    return told


def _start(schedule: Schedule, scheduled_time: datetime, now: datetime) -> str:
    """The blank keeps this key apart from all that requests may bring."""
    spec = replace(RunSpec.from_text(schedule.run), schedule_id=schedule.id)
    return start(schedule.workspace, spec, f"{schedule.id} {to_iso(scheduled_time)}", now).run.id


def _tell(schedule: Schedule, firing: Firing) -> None:
    with suppress(NotFound):  # Deleted meanwhile: nobody is left to be told.
        change(schedule.workspace, schedule.id, lambda current: current.fired(firing))


def _scheduled_time(schedule: Schedule, told: str, now: datetime) -> datetime:
    """When it was due. The embedded cloud does not tell; it calls once, and at most once a minute."""
    if schedule.timing.at is not None:
        return schedule.timing.at
    with suppress(ValueError):
        return from_iso(told).astimezone(UTC)
    return now.replace(second=0, microsecond=0)
