from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.json_types import Json
from cupel.live_view import is_waiting_for_user
from cupel.progress_display import progress_display
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel_core.domain.runs.run import TERMINAL

if TYPE_CHECKING:
    from cupel.client import Client

FIRST_WAIT_SECONDS = 0.25
MAX_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS_LARGE = 3.0
WAIT_GROWTH = 1.2
_LARGE_RUN = 100_000
"""Counts probes; the progress of a larger run takes up to a hundred reads."""


def watch(session: Session, client: "Client", run: Json) -> Json:
    """Show progress until the run has ended; return the run in its final state.

    A run that is paused because of its provider or its budget is followed further only on a terminal, where someone may
    repair or raise it.
    """
    longest = MAX_WAIT_SECONDS_LARGE if run["progress"]["total"] > _LARGE_RUN else MAX_WAIT_SECONDS
    names = TargetNames(client)
    with progress_display(session.err, run) as show:
        for progress in _poll(lambda: client.get_run_progress(run["id"]), session.sleep, longest):
            show({**progress, "targets": names.named(progress["targets"])})
            if is_waiting_for_user(progress) and not session.err.is_terminal:
                break
    return client.get_run(run["id"])


def follow(client: "Client", run: Json, sleep: Callable[[float], None]) -> Iterator[Json]:
    return _poll(lambda: client.get_run(run["id"]), sleep, MAX_WAIT_SECONDS)


def _poll(read: Callable[[], Json], sleep: Callable[[float], None], longest_wait: float) -> Iterator[Json]:
    wait = FIRST_WAIT_SECONDS
    while True:
        current = read()
        yield current
        if current["status"] in TERMINAL:
            return
        sleep(wait)
        wait = min(longest_wait, wait * WAIT_GROWTH)


def wait_for_job(session: Session, client: "Client", job_id: str, activity: str) -> Json:
    """Return the job once it is completed, and show its stage meanwhile. Raises CupelError, with the reason, if it
    failed."""
    wait, job = FIRST_WAIT_SECONDS, client.get_job(job_id)
    with session.err.status(activity) as display:
        while job["status"] not in ("COMPLETED", "FAILED"):
            display.update(_stage_of(job, activity))
            session.sleep(wait)
            wait = min(MAX_WAIT_SECONDS, wait * WAIT_GROWTH)
            job = client.get_job(job_id)
    if job["status"] == "FAILED":
        raise CupelError(f"{activity} failed: {job['failure']['why']}")
    return job


def _stage_of(job: Json, activity: str) -> str:
    progress = job["progress"]
    return f"{activity}: {job['stage']} ({progress['done'] + 1}/{progress['total']})" if job["stage"] else activity
