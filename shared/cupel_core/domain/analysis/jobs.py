"""Describes jobs: computations that take too long for a request, so a queue worker does them."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.run import RunFailure

MAX_ATTEMPTS = 5
"""A worker starts a job at most this often: after so many interruptions, another is likely."""


class JobKind(StrEnum):
    COMPARISON = "comparison"
    DEEP_ANALYSIS = "deep_analysis"
    REPORT = "report"


class JobStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"

    @property
    def is_over(self) -> bool:
        return self in (JobStatus.COMPLETED, JobStatus.FAILED)


@dataclass(frozen=True)
class Job:
    """Describes a job that computes `result_id`, a comparison or an analysis. The job's id follows from `result_id`, so
    requesting a result twice makes one job."""

    workspace: str
    id: str
    kind: JobKind
    result_id: str
    run_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    status: JobStatus = JobStatus.QUEUED
    attempts: int = 0
    stage: str | None = None
    done: int = 0
    total: int = 0
    """Number of steps; 0 before the job starts."""
    failure: RunFailure | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def may_start(self) -> bool:
        return self.attempts < MAX_ATTEMPTS

    def started(self, now: datetime) -> "Job":
        return replace(
            self,
            status=JobStatus.RUNNING,
            attempts=self.attempts + 1,
            started_at=self.started_at or now,
            updated_at=now,
        )

    def at(self, stage: str, done: int, total: int, now: datetime) -> "Job":
        return replace(self, stage=stage, done=done, total=total, updated_at=now)

    def finished(self, now: datetime, failure: RunFailure | None = None) -> "Job":
        status = JobStatus.FAILED if failure else JobStatus.COMPLETED
        done = self.done if failure else self.total
        return replace(self, status=status, failure=failure, done=done, completed_at=now, updated_at=now)

    def queued_again(self, now: datetime) -> "Job":
        return Job(self.workspace, self.id, self.kind, self.result_id, self.run_ids, now, now, options=self.options)


def job_id_of(result_id: str) -> str:
    return f"job_{result_id}"
