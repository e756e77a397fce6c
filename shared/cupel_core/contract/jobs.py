"""Jobs: queued computations and their progress."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, Time
from cupel_core.contract.runs import FailureResponse
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus


class JobProgressResponse(ResponseModel):
    done: Annotated[int, Field(description="Stages that are done")]
    total: Annotated[int, Field(description="Stages of the job; 0 before it starts")]


class JobResponse(ResponseModel):
    """A queued computation."""

    id: str
    kind: JobKind
    status: JobStatus
    stage: Annotated[str | None, Field(description="What it is doing; null before it starts")]
    progress: JobProgressResponse
    result_id: Annotated[str, Field(description="What it computes: the comparison or the analysis")]
    run_ids: Annotated[list[str], Field(description="The runs that it reads")]
    failure: FailureResponse | None
    created_at: Time
    started_at: Time | None
    updated_at: Time
    completed_at: Time | None

    @classmethod
    def of(cls, job: Job) -> "JobResponse":
        return cls.from_value(job, progress=job)


class JobPage(ResponseModel):
    items: list[JobResponse]
    next_cursor: str | None
