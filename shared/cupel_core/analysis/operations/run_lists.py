from dataclasses import replace
from typing import Annotated

from cupel_core.analysis import run_rates
from cupel_core.base.paging import DEFAULT_LIMIT, Page
from cupel_core.contract.operation import VIEWER, AsTool, Call, Listed, ToolGroup, counting_time, operation
from cupel_core.contract.query import (
    CreatedAfter,
    CreatedBefore,
    CreationSort,
    Cursor,
    DefinitionFilter,
    EvalFilter,
    ExperimentFilter,
    Limit,
    MetadataFilter,
    Parameter,
    RunNameFilter,
    ScheduleFilter,
    Sort,
    TagFilter,
    creation,
    metadata_entries,
)
from cupel_core.contract.runs import RunPage, RunResponse
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.runs import queries


def _with_rates(page: Page[RunView]) -> Page[RunView]:
    rates = run_rates.read_rates([view.run for view in page.items], counting_time(run_rates.SECONDS_TO_COUNT))
    return page.map(lambda view: replace(view, rates=rates.get(view.run.id)))


@operation(
    "GET /v1/runs",
    "List the runs, newest first",
    role=VIEWER,
    returns="A page of runs",
    tool=AsTool(
        ToolGroup.READ,
        ("id name status definitionId experimentId config.models progress spend.costUsd createdAt"),
        is_default=True,
        max_kb=7,
    ),
)
def list_runs(
    call: Call,
    definition_id: DefinitionFilter = None,
    experiment_id: ExperimentFilter = None,
    schedule_id: ScheduleFilter = None,
    eval_id: EvalFilter = None,
    status: Annotated[RunStatus | None, Parameter(description="Return only runs with this status")] = None,
    name: RunNameFilter = None,
    tag: TagFilter = None,
    metadata: MetadataFilter = (),
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    sort: Sort = CreationSort.NEWEST_FIRST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[RunPage]:
    """With a filter, a request examines at most 1,000 runs, so a page may have fewer than `limit`, even none, and
    still a `nextCursor`. Times and `sort` are no filters: they cost nothing at any size.
    """
    listed = queries.list_runs(
        call.workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        name=name,
        tag=tag,
        metadata=metadata_entries(metadata),
        limit=limit,
        cursor=cursor,
        created=creation(created_after, created_before, sort),
    )
    return Listed(listed if call.selects_fields else _with_rates(listed), RunResponse.of)
