"""Waiting for a job within a request."""

import time
from collections.abc import Callable

from cupel_core.domain.analysis.jobs import Job
from cupel_core.store import jobs

POLL_SECONDS = 0.5


def wait_for_job(
    workspace: str,
    job_id: str,
    seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Job:
    """The job as it is when it is over, or after that time. NotFound for an unknown job."""
    deadline = clock() + seconds
    while not (job := jobs.get(workspace, job_id)).status.is_over and clock() + POLL_SECONDS <= deadline:
        sleep(POLL_SECONDS)
    return job
