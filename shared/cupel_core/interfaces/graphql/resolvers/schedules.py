"""Schedules and the runs that they have started."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.schedules import CreateSchedule, ScheduleResponse, UpdateSchedule
from cupel_core.domain.runs.schedules import Schedule
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.graphql.inputs import check_limit, check_offset, whole_numbers
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.lists import first_items
from cupel_core.interfaces.graphql.resolvers.runs import runs_of
from cupel_core.runs.schedules import schedules


@resolves("Query.schedule", "getSchedule")
def schedule(request: Request, _: None, schedule_id: str) -> Loaded | None:
    try:
        return _loaded(request, schedules.get(request.workspace, schedule_id, request.now))
    except NotFound:
        return None


@resolves("Query.schedules", "listSchedules", item_cost=2)
def list_schedules(request: Request, _: None, limit: int, offset: int) -> Page[Loaded]:
    found = first_items(
        lambda size, cursor: schedules.list_schedules(request.workspace, size, cursor, request.now),
        check_limit(limit),
        check_offset(offset),
    )
    return found.map(lambda each: _loaded(request, each))


def _loaded(request: Request, stored: Schedule) -> Loaded:
    return Loaded(ScheduleResponse.of(stored, request.now))


@resolves("Schedule.runs", "listRuns")
def schedule_runs(request: Request, source: Loaded, limit: int, status: str | None = None) -> Page[Loaded]:
    return runs_of(request, limit, status, schedule_id=source["id"])


@resolves("ScheduleFiring.run", "getRun", 10)
async def firing_run(request: Request, source: dict[str, Any]) -> Loaded | None:
    if source["runId"] is None:
        return None
    found: Loaded | None = await request.load.run.load(source["runId"])
    return found


@resolves("Mutation.createSchedule", "createSchedule", 10)
def create_schedule(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(CreateSchedule, whole_numbers(body))
    return _loaded(request, schedules.create(request.workspace, wanted.spec(), request.now))


@resolves("Mutation.updateSchedule", "updateSchedule", 10)
def update_schedule(request: Request, _: None, schedule_id: str, body: dict[str, Any]) -> Loaded:
    changes = parse(UpdateSchedule, whole_numbers(body)).changes()
    return _loaded(request, schedules.update(request.workspace, schedule_id, changes, request.now, UNCONDITIONAL))


@resolves("Mutation.deleteSchedule", "deleteSchedule", 5)
def delete_schedule(request: Request, _: None, schedule_id: str) -> bool:
    schedules.delete(request.workspace, schedule_id, request.now)
    return True
