"""Runs: create, list, get and delete them, and list their probes."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.parameters import (
    Cursor,
    DefinitionFilter,
    EvalFilter,
    ExperimentFilter,
    IdempotencyKey,
    Limit,
    ModelFilter,
    ScheduleFilter,
)
from api.routing import OperationRouter
from cupel_core.clock import utc_now
from cupel_core.contract.runs import CreateRun, ProbePage, ProbeResponse, RunPage, RunResponse, RunStartedResponse
from cupel_core.domain.runs.run import ProbeStatus, Progress, RunStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.runs import erasure, queries, start
from cupel_core.runs import probes as run_probes

router = OperationRouter()


@router.operation("createRun", status=201)
def create_run(body: CreateRun, idempotency_key: IdempotencyKey = None) -> RunStartedResponse:
    started = start.start(router.workspace, body.spec(), idempotency_key, utc_now())
    # The run as it was at its start, even if the request is repeated later with the same key.
    view = RunView(started.run, Progress(started.job_count), None, None)
    return RunStartedResponse(run=RunResponse.of(view), job_count=started.job_count)


@router.operation("listRuns")
def list_runs(
    definition_id: DefinitionFilter = None,
    experiment_id: ExperimentFilter = None,
    schedule_id: ScheduleFilter = None,
    eval_id: EvalFilter = None,
    status: Annotated[RunStatus | None, Query(description="Return only runs with this status")] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> RunPage:
    page = queries.list_runs(
        router.workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        limit=limit,
        cursor=cursor,
    )
    return RunPage(items=[RunResponse.of(view) for view in page.items], next_cursor=page.next_cursor)


@router.operation("getRun")
def get_run(run_id: str) -> RunResponse:
    return RunResponse.of(queries.get_run(router.workspace, run_id, utc_now()))


@router.operation("deleteRun", status=204)
def delete_run(run_id: str) -> Response[None]:
    erasure.delete_run(router.workspace, run_id, utc_now())
    return Response(204)


@router.operation("listRunProbes")
def list_run_probes(
    run_id: str,
    status: Annotated[ProbeStatus | None, Query(description="Return only probes with this status")] = None,
    model: ModelFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ProbePage:
    workspace = router.workspace
    page = run_probes.list_probes(
        workspace, run_id, status=status, model=model, limit=limit, cursor=cursor, now=utc_now()
    )
    return ProbePage(items=[ProbeResponse.of(view) for view in page.items], next_cursor=page.next_cursor)
