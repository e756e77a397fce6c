"""Jobs: queued computations and their progress."""

from cupel_core.contract.common import ResponseModel, Time
from cupel_core.contract.runs import FailureResponse
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus


class JobProgressResponse(ResponseModel):
    done: int
    """Stages that are done. Example: 1"""
    total: int
    """Stages of the job; 0 before it starts. Example: 1"""


class JobResponse(ResponseModel):
    """A queued computation."""

    id: str
    """Example: job_cmp_5d41402abc4b2a76b9719d91"""
    kind: JobKind
    """Kind of computation."""
    status: JobStatus
    stage: str | None
    """Current step; null before it starts. Example: comparing"""
    progress: JobProgressResponse
    result_id: str
    """Id of the comparison or the analysis. Example: cmp_5d41402abc4b2a76b9719d91"""
    run_ids: list[str]
    """The runs that it reads. Example: ["run_01k1f0aa", "run_01k1f0ab"]"""
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
