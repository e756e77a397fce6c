"""Limits of open runs. A start beyond a limit is refused before anything of the run is written."""

from cupel_core.base.errors import RetryableError
from cupel_core.domain.runs.run import Run
from cupel_core.domain.text.counts import count_of
from cupel_core.resources.evaluation_settings import get_settings
from cupel_core.store import active_runs

RETRY_AFTER_SECONDS = 30.0


class TooManyRuns(RetryableError):
    status = 429
    title = "Too many runs"

    def __init__(self, whose: str, limit: int, field: str) -> None:
        super().__init__(
            f"{whose} has {count_of(limit, 'open run')}, and {field} of the settings allows no more; wait until one "
            "has ended, or cancel one",
            RETRY_AFTER_SECONDS,
        )


def admit(run: Run) -> None:
    """Count a run that starts or is reopened as open. Counting it again changes nothing. Raise TooManyRuns at a
    limit."""
    limits = get_settings(run.workspace).open_runs
    owner = _owner_of(run)
    if owner is not None and not _add(run, owner, limits.owner_limit):
        raise TooManyRuns("the owner of the run", limits.owner_limit, "openRunsPerOwner")
    if not _add(run, active_runs.WORKSPACE, limits.workspace_limit):
        if owner is not None:
            active_runs.remove_open(run.workspace, owner, [run.id])
        raise TooManyRuns("the workspace", limits.workspace_limit, "openRuns")


def _add(run: Run, owner: str, limit: int) -> bool:
    if active_runs.add_open(run.workspace, owner, run.id, limit):
        return True
    active_runs.remove_open(run.workspace, owner, active_runs.list_ended(run.workspace, owner))
    return active_runs.add_open(run.workspace, owner, run.id, limit)


def _owner_of(run: Run) -> str | None:
    return run.started_by.id
