from datetime import datetime

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    Listed,
    Replay,
    Tagged,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.contract.schedules import CreateSchedule, SchedulePage, ScheduleResponse, UpdateSchedule
from cupel_core.domain.runs.schedules import Schedule
from cupel_core.runs.schedules import schedules


@operation(
    "POST /v1/schedules",
    "Create a schedule",
    role=MEMBER,
    returns="The schedule",
    status=201,
    location="/v1/schedules/{id}",
    replay=Replay.CREATED,
)
def create_schedule(call: Call, body: CreateSchedule) -> Tagged[ScheduleResponse]:
    now = call.now
    return _tagged(schedules.create(call.workspace, body.spec(), now), now)


@operation("GET /v1/schedules", "List the schedules, newest first", role=VIEWER, returns="A page of schedules")
def list_schedules(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[SchedulePage]:
    now = call.now
    listed = schedules.list_schedules(call.workspace, limit, cursor, now)
    return Listed(listed, lambda schedule: ScheduleResponse.of(schedule, now))


@operation(
    "GET /v1/schedules/{schedule_id}", "Get a schedule and its most recent firings", role=VIEWER, returns="The schedule"
)
def get_schedule(call: Call, schedule_id: str) -> Tagged[ScheduleResponse]:
    now = call.now
    return _tagged(schedules.get(call.workspace, schedule_id, now), now)


@operation(
    "PATCH /v1/schedules/{schedule_id}",
    "Change, enable or disable a schedule",
    role=MEMBER,
    returns="The updated schedule",
    if_match=True,
)
def update_schedule(call: Call, schedule_id: str, body: UpdateSchedule) -> Tagged[ScheduleResponse]:
    now = call.now
    updated = schedules.update(call.workspace, schedule_id, body.changes(), now, call.precondition)
    return _tagged(updated, now)


@operation("DELETE /v1/schedules/{schedule_id}", "Delete a schedule", role=MEMBER, returns="Deleted", if_match=True)
def delete_schedule(call: Call, schedule_id: str) -> None:
    schedules.delete(call.workspace, schedule_id, call.now, call.precondition)


def _tagged(schedule: Schedule, now: datetime) -> Tagged[ScheduleResponse]:
    return Tagged(ScheduleResponse.of(schedule, now), etag(schedule.revision))
