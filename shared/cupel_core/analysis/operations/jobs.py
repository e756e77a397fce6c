from typing import Annotated

from cupel_core.analysis import lists
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.jobs import JobPage, JobResponse
from cupel_core.contract.operation import VIEWER, AsTool, Call, Listed, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.store import jobs

JobRun = Annotated[str | None, Parameter(description="Return only jobs that read this run")]


JobStatusFilter = Annotated[JobStatus | None, Parameter(description="Return only jobs with this status")]


@operation("GET /v1/jobs", "List the jobs, newest first", role=VIEWER, returns="A page of jobs", tag="comparisons")
def list_jobs(
    call: Call,
    run_id: JobRun = None,
    status: JobStatusFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[JobPage]:
    """Jobs that are over are listed for 30 days."""
    listed = lists.list_jobs(call.workspace, run_id=run_id, status=status, limit=limit, cursor=cursor)
    return Listed(listed, JobResponse.of)


@operation(
    "GET /v1/jobs/{job_id}",
    "Get a job and its progress",
    role=VIEWER,
    returns="The job",
    tag="comparisons",
    tool=AsTool(ToolGroup.READ, "id kind status stage progress resultId runIds failure updatedAt", max_kb=1),
)
def get_job(call: Call, job_id: str) -> JobResponse:
    return JobResponse.of(jobs.get(call.workspace, job_id))
