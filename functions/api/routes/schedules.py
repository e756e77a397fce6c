"""Schedules: runs that start at set times."""

from datetime import datetime

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.schedules import CreateSchedule, SchedulePage, ScheduleResponse, UpdateSchedule
from cupel_core.domain.runs.schedules import Schedule
from cupel_core.runs.schedules import schedules

router = OperationRouter()


@router.operation("createSchedule", status=201)
def create_schedule(body: CreateSchedule) -> ScheduleResponse:
    now = utc_now()
    return _tagged(schedules.create(router.workspace, body.spec(), now), now)


@router.operation("listSchedules")
def list_schedules(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[SchedulePage]:
    now = utc_now()
    listed = schedules.list_schedules(router.workspace, limit, cursor, now)
    return bounded_page(SchedulePage, listed.entries(), limit, lambda schedule: ScheduleResponse.of(schedule, now))


@router.operation("getSchedule")
def get_schedule(schedule_id: str) -> ScheduleResponse:
    now = utc_now()
    return _tagged(schedules.get(router.workspace, schedule_id, now), now)


@router.operation("updateSchedule")
def update_schedule(schedule_id: str, body: UpdateSchedule, if_match: IfMatch = None) -> ScheduleResponse:
    now = utc_now()
    precondition = Precondition.parse(if_match)
    updated = schedules.update(router.workspace, schedule_id, body.changes(), now, precondition)
    return _tagged(updated, now)


@router.operation("deleteSchedule", status=204)
def delete_schedule(schedule_id: str, if_match: IfMatch = None) -> Response[None]:
    schedules.delete(router.workspace, schedule_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


def _tagged(schedule: Schedule, now: datetime) -> ScheduleResponse:
    return router.tagged(ScheduleResponse.of(schedule, now), etag(schedule.revision))
