import time
from collections.abc import Callable

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page
from cupel_core.domain.analysis.comparison_requests import ComparisonRecord
from cupel_core.domain.analysis.jobs import Job, JobStatus
from cupel_core.store import comparisons, jobs, resources, runs
from cupel_core.store.resources import ResourceKind

POLL_SECONDS = 0.5


def list_jobs(
    workspace: str, *, run_id: str | None, status: JobStatus | None, limit: int, cursor: str | None
) -> Page[Job]:
    page = jobs.list_jobs(workspace, run_id=run_id, status=status, limit=limit, cursor=cursor)
    if not page.items:
        _check_filters(workspace, run_id, None)
    return page


def list_comparisons(
    workspace: str, *, run_id: str | None, experiment_id: str | None, limit: int, cursor: str | None
) -> Page[ComparisonRecord]:
    page = comparisons.list_comparisons(
        workspace, run_id=run_id, experiment_id=experiment_id, limit=limit, cursor=cursor
    )
    if not page.items:
        _check_filters(workspace, run_id, experiment_id)
    run_ids = dict.fromkeys(run_id for each in page.items for run_id in each.spec.run_ids)
    known = {run_id for run_id in run_ids if runs.find(RunRef(workspace, run_id)) is not None}
    kept = [number for number, each in enumerate(page.items) if known.issuperset(each.spec.run_ids)]
    return Page(
        tuple(page.items[number] for number in kept), page.next_cursor, tuple(page.cursors[number] for number in kept)
    )


def _check_filters(workspace: str, run_id: str | None, experiment_id: str | None) -> None:
    """Check the filters of an empty page; other pages cost no further read."""
    errors = []
    if run_id is not None and runs.find(RunRef(workspace, run_id)) is None:
        errors.append(FieldError("runId", f"there is no run {run_id}"))
    if experiment_id is not None and resources.find(workspace, ResourceKind.EXPERIMENT, experiment_id) is None:
        errors.append(FieldError("experimentId", f"there is no experiment {experiment_id}"))
    if errors:
        raise Invalid.fields(errors)


def wait_for_job(
    workspace: str,
    job_id: str,
    seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Job:
    """Return the job when it is over, or after `seconds`. Raises NotFound for an unknown job."""
    deadline = clock() + seconds
    while not (job := jobs.get(workspace, job_id)).status.is_over and clock() + POLL_SECONDS <= deadline:
        sleep(POLL_SECONDS)
    return job
