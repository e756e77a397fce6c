"""Runs: list, get, label and delete them, and list their probes."""

from functools import partial
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.deletions import delete_each
from api.pages import bounded_page
from api.parameters import (
    CreatedAfter,
    CreatedBefore,
    CreationSort,
    Cursor,
    DefinitionFilter,
    EvalFilter,
    ExperimentFilter,
    IfMatch,
    Limit,
    MetadataFilter,
    ModelFilter,
    PromptFilter,
    RunNameFilter,
    ScheduleFilter,
    Sort,
    TagFilter,
    creation,
    metadata_entries,
)
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition
from cupel_core.contract.case_results import CaseResultsPage, CaseResultsResponse
from cupel_core.contract.deletions import DeleteRuns, DeletionListResponse
from cupel_core.contract.progress import DetailedProgressResponse
from cupel_core.contract.run_labels import UpdateRun
from cupel_core.contract.runs import ProbePage, ProbeResponse, RunPage, RunResponse
from cupel_core.domain.runs.run import ProbeStatus, RunStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.runs import case_results, labels, progress, queries
from cupel_core.runs import probes as run_probes

router = OperationRouter()


@router.operation("listRuns")
def list_runs(
    definition_id: DefinitionFilter = None,
    experiment_id: ExperimentFilter = None,
    schedule_id: ScheduleFilter = None,
    eval_id: EvalFilter = None,
    status: Annotated[RunStatus | None, Query(description="Return only runs with this status")] = None,
    name: RunNameFilter = None,
    tag: TagFilter = None,
    metadata: MetadataFilter = (),
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    sort: Sort = CreationSort.NEWEST_FIRST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[RunPage]:
    listed = queries.list_runs(
        router.workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        name=name,
        tag=tag,
        metadata=metadata_entries(router.query_values("metadata") if metadata else ()),
        limit=limit,
        cursor=cursor,
        created=creation(created_after, created_before, sort),
    )
    return bounded_page(RunPage, listed.entries(), limit, RunResponse.of)


@router.operation("getRun")
def get_run(run_id: str) -> RunResponse:
    return _tagged(queries.get_run(router.workspace, run_id, utc_now()))


@router.operation("updateRun")
def update_run(run_id: str, body: UpdateRun, if_match: IfMatch = None) -> RunResponse:
    workspace, now = router.workspace, utc_now()
    labels.update_labels(workspace, run_id, body.labels(), now, Precondition.parse(if_match))
    return _tagged(queries.get_run(workspace, run_id, now))


@router.operation("getRunProgress")
def get_run_progress(run_id: str) -> DetailedProgressResponse:
    return DetailedProgressResponse.of(progress.get_progress(router.workspace, run_id, utc_now()))


@router.operation("deleteRun", status=204)
def delete_run(run_id: str) -> Response[None]:
    _delete(router.workspace, run_id)
    return Response(204)


@router.operation("deleteRuns")
def delete_runs(body: DeleteRuns) -> DeletionListResponse:
    return delete_each(body.ids, partial(_delete, router.workspace))


@router.operation("listRunProbes")
def list_run_probes(
    run_id: str,
    status: Annotated[ProbeStatus | None, Query(description="Return only probes with this status")] = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[ProbePage]:
    entries = run_probes.list_probes(
        router.workspace,
        run_id,
        status=status,
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=cursor,
        now=utc_now(),
    )
    return bounded_page(ProbePage, entries, limit, ProbeResponse.of)


@router.operation("listRunCases")
def list_run_cases(
    run_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[CaseResultsPage]:
    entries = case_results.list_cases(
        router.workspace, run_id, model=model, prompt_id=prompt_id, limit=limit, cursor=cursor
    )
    return bounded_page(CaseResultsPage, entries, limit, CaseResultsResponse.of)


def _tagged(view: RunView) -> RunResponse:
    return router.tagged(RunResponse.of(view), labels.labels_etag(view.run))


def _delete(workspace: str, run_id: str) -> None:
    from cupel_core.runs import erasure  # few requests delete

    erasure.delete_run(workspace, run_id, utc_now())
