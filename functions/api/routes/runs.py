"""Runs: start, list, read, delete; their probes."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.runs import ProbeAnswer, ProbeList, RunAnswer, RunList, RunRequest, StartedAnswer
from cupel_core.domain.runs.run import ProbeStatus, Progress, RunStatus
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.runs import probes as standing
from cupel_core.runs import queries, start

router = APIGatewayHttpRouter()

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]*$",
        description="The same key and body start a run once, and are answered alike",
    ),
]


@router.post("/runs", summary="Start a run", tags=["runs"], status_code=201)
def begin(body: RunRequest, idempotency_key: IdempotencyKey = None) -> StartedAnswer:
    workspace = caller(router.current_event).workspace
    started = start.start(workspace, body.spec(), idempotency_key, utc_now())
    # Told as it was at its start, also when the same key asks again later.
    view = queries.RunView(started.run, Progress(started.job_count), None, None)
    return StartedAnswer(run=RunAnswer.of(view), job_count=started.job_count)


@router.get("/runs", summary="List the runs, newest first", tags=["runs"])
def listed(
    definition_id: Annotated[str | None, Query(alias="definitionId")] = None,
    experiment_id: Annotated[str | None, Query(alias="experimentId")] = None,
    schedule_id: Annotated[str | None, Query(alias="scheduleId")] = None,
    eval_id: Annotated[str | None, Query(alias="evalId")] = None,
    status: RunStatus | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> RunList:
    page = queries.listed(
        caller(router.current_event).workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        limit=limit,
        cursor=cursor,
    )
    return RunList(items=[RunAnswer.of(view) for view in page.items], next_cursor=page.next_cursor)


@router.get("/runs/<run_id>", summary="Read a run", tags=["runs"])
def get(run_id: str) -> RunAnswer:
    return RunAnswer.of(queries.get(caller(router.current_event).workspace, run_id, utc_now()))


@router.delete("/runs/<run_id>", summary="Delete a run", tags=["runs"], status_code=204)
def delete(run_id: str) -> Response[None]:
    queries.delete(caller(router.current_event).workspace, run_id, utc_now())
    return Response(204)


@router.get("/runs/<run_id>/probes", summary="List what runs, and what failed and why", tags=["runs"])
def probes(
    run_id: str,
    status: ProbeStatus | None = None,
    model: str | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ProbeList:
    workspace = caller(router.current_event).workspace
    page = standing.listed(workspace, run_id, status=status, model=model, limit=limit, cursor=cursor, now=utc_now())
    return ProbeList(items=[ProbeAnswer.of(view) for view in page.items], next_cursor=page.next_cursor)
