"""The firing of a schedule: exactly one run, however often and however late EventBridge Scheduler invokes it.

The schedule and its scheduled time together are the Idempotency-Key of the start, so a redelivered firing, or one whose
reply was lost, starts no second run: deliveries end within hours, and keys are remembered for a day. A firing that
starts no run is recorded with the reason. An internal error is recorded and raised, so that Lambda retries twice; after
that, the firing goes to the dead letter queue. A firing of a deleted schedule removes it from EventBridge.

A schedule of an eval runs the eval as it is at the firing; one of a definition takes the latest version, or the one
that is named.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import AppError, ClientError, ConfirmationRequired, Conflict, NotFound
from cupel_core.base.messages import DueSchedule
from cupel_core.domain.runs.run import StartedBy, StarterType
from cupel_core.domain.runs.schedules import Firing, Schedule
from cupel_core.runs.eval_runs import current_spec
from cupel_core.runs.schedules.schedules import update_schedule
from cupel_core.runs.spec import scheduled_from_text
from cupel_core.runs.start import start
from cupel_core.store import scheduler, schedules


def fire(due: DueSchedule, now: datetime) -> Firing | None:
    """Start the run of a due schedule and record the firing; None for a schedule that is deleted or disabled.

    If the run is refused, the firing has the error. An internal error is recorded and raised, so that the invocation is
    retried; so is Conflict while another invocation starts the same run.
    """
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

    The space in the key keeps it apart from all keys that requests may have. The key is the whole request: if the run
    was changed since a delivery started it, this is still the same firing.
    """
    spec = replace(current_spec(schedule.workspace, scheduled_from_text(schedule.run)), schedule_id=schedule.id)
    started_by = StartedBy(StarterType.SCHEDULE, schedule.id, schedule.name)
    key = f"{schedule.id} {to_iso(scheduled_time)}"
    return start(schedule.workspace, spec, key, now, started_by, request=key).run.id


def _record(schedule: Schedule, firing: Firing) -> None:
    with suppress(NotFound):  # Deleted in the meantime.
        update_schedule(schedule.workspace, schedule.id, lambda current: current.with_firing(firing))


def _scheduled_time(schedule: Schedule, event_time: str, now: datetime) -> datetime:
    """Return when the firing was due. The embedded emulator sends no time; it invokes once, and at most once a
    minute."""
    if schedule.timing.at is not None:
        return schedule.timing.at
    with suppress(ValueError):
        return from_iso(event_time).astimezone(UTC)
    return now.replace(second=0, microsecond=0)
