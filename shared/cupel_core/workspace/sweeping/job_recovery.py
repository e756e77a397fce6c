from collections.abc import Callable
from datetime import datetime, timedelta

from cupel_core.base.messages import JobRequest
from cupel_core.store import jobs
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST, QueuedWork, resend_lost

RESEND_AFTER = timedelta(minutes=2)
"""A job's message is sent again after this long without a worker, which is longer than a message usually waits."""


def recover_jobs(now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST) -> int:
    """Check every open job while time allows. Return how many messages were sent again."""
    return resend_lost(_JOBS, now, seconds_left, lost_before)


def _idle_since(request: JobRequest) -> datetime | None:
    job, leased_until = jobs.get_leased(request.workspace, request.job_id)
    return None if job.status.is_over else max(job.updated_at, leased_until or job.updated_at)


_JOBS = QueuedWork(
    "jobs", jobs.list_open, _idle_since, lambda: settings().analyze_queue_url, RESEND_AFTER, jobs.end_lease
)
