"""Sends the message of a job again whose message was lost, or whose worker died."""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.errors import AppError, NotFound
from cupel_core.settings import settings
from cupel_core.store import jobs, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.jobs import OpenJob
from cupel_core.sweeping.in_turn import in_turn

RESEND_AFTER = timedelta(minutes=2)
"""Without a worker. Longer than a message usually waits."""
_RESERVE_SECONDS = 3.0

logger = Logger(child=True)


def recover_jobs(now: datetime, seconds_left: Callable[[], float]) -> int:
    """Check every open job, as far as time allows; returns how many messages were sent again."""
    resent = 0
    for open_job in in_turn("jobs", jobs.list_open, attrgetter("sort_key"), lambda: seconds_left() >= _RESERVE_SECONDS):
        try:
            resent += _recover(open_job, now)
        except (AppError, *AWS_ERRORS):  # It must not keep others waiting.
            logger.exception("a job could not be recovered", request=open_job.request.model_dump())
    return resent


def _recover(open_job: OpenJob, now: datetime) -> bool:
    request = open_job.request
    try:
        job, leased_until = jobs.get_leased(request.workspace, request.job_id)
    except NotFound:
        jobs.remove_open(open_job)
        return False
    if job.status.is_over:
        jobs.remove_open(open_job)
        return False
    idle_since = max(open_job.touched_at, job.updated_at, leased_until or job.updated_at)
    if now - idle_since < RESEND_AFTER:
        return False
    queues.send(settings().analyze_queue_url, [request])
    jobs.touch_open(open_job, now)
    return True
