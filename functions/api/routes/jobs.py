"""Jobs: queued computations and their progress."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_page
from api.parameters import Cursor, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.analysis import lists
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.jobs import JobPage, JobResponse
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.store import jobs

router = OperationRouter()

JobRun = Annotated[str | None, Query(alias="runId", description="Return only jobs that read this run")]
JobStatusFilter = Annotated[JobStatus | None, Query(alias="status", description="Return only jobs with this status")]


@router.operation("listJobs")
def list_jobs(
    run_id: JobRun = None, status: JobStatusFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Rendered[JobPage]:
    listed = lists.list_jobs(router.workspace, run_id=run_id, status=status, limit=limit, cursor=cursor)
    return bounded_page(JobPage, listed.entries(), limit, JobResponse.of)


@router.operation("getJob")
def get_job(job_id: str) -> JobResponse:
    return JobResponse.of(jobs.get(router.workspace, job_id))
