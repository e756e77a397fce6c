"""Schedules: runs that start by themselves."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.schedules import ScheduleAnswer, ScheduleChange, ScheduleList, ScheduleRequest
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.schedules import schedules

router = APIGatewayHttpRouter()


@router.post("/schedules", summary="Make a schedule", tags=["schedules"], status_code=201)
def create(body: ScheduleRequest) -> ScheduleAnswer:
    now = utc_now()
    return ScheduleAnswer.of(schedules.create(caller(router.current_event).workspace, body.spec(), now), now)


@router.get("/schedules", summary="List the schedules, newest first", tags=["schedules"])
def listed(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ScheduleList:
    now = utc_now()
    page = schedules.listed(caller(router.current_event).workspace, limit, cursor, now)
    return ScheduleList(items=[ScheduleAnswer.of(each, now) for each in page.items], next_cursor=page.next_cursor)


@router.get("/schedules/<schedule_id>", summary="Read a schedule and its last firings", tags=["schedules"])
def get(schedule_id: str) -> ScheduleAnswer:
    now = utc_now()
    return ScheduleAnswer.of(schedules.get(caller(router.current_event).workspace, schedule_id, now), now)


@router.patch("/schedules/<schedule_id>", summary="Let a schedule fire, or not", tags=["schedules"])
def change(schedule_id: str, body: ScheduleChange) -> ScheduleAnswer:
    now = utc_now()
    workspace = caller(router.current_event).workspace
    return ScheduleAnswer.of(schedules.enable(workspace, schedule_id, now, enabled=body.enabled), now)


@router.delete("/schedules/<schedule_id>", summary="Delete a schedule", tags=["schedules"], status_code=204)
def delete(schedule_id: str) -> Response[None]:
    schedules.delete(caller(router.current_event).workspace, schedule_id, utc_now())
    return Response(204)
