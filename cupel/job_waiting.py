"""Waiting for a queued computation of a stack."""

from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.json_types import Json
from cupel.session import Session
from cupel.watch import FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS, WAIT_GROWTH

if TYPE_CHECKING:
    from cupel.client import Client


def wait_for_job(session: Session, client: "Client", job_id: str, activity: str) -> Json:
    """The job once it is completed; its stage is shown meanwhile. CupelError, with the reason, if it failed."""
    wait, job = FIRST_WAIT_SECONDS, client.get_job(job_id)
    with session.err.status(activity) as display:
        while job["status"] not in ("COMPLETED", "FAILED"):
            display.update(_stage(job, activity))
            session.sleep(wait)
            wait = min(MAX_WAIT_SECONDS, wait * WAIT_GROWTH)
            job = client.get_job(job_id)
    if job["status"] == "FAILED":
        raise CupelError(f"{activity} failed: {job['failure']['why']}")
    return job


def _stage(job: Json, activity: str) -> str:
    progress = job["progress"]
    return f"{activity}: {job['stage']} ({progress['done'] + 1}/{progress['total']})" if job["stage"] else activity
