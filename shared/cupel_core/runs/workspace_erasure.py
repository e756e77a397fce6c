"""Erasure of a whole workspace: the request ends access and work, the sweeper erases what is stored.

Every step may be repeated, and continues where the previous one ended: what was erased is no longer found.
"""

from collections.abc import Callable
from datetime import datetime

from cupel_core.base.messages import RunRef
from cupel_core.runs.erasure import delete_runs
from cupel_core.store import deletion_log, erasures, scheduler, schedules, tokens, workspaces
from cupel_core.store.deletion_log import DeletedWhole, Deletion
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureKind


def erase_workspace(workspace: str, now: datetime, has_time: Callable[[], bool]) -> None:
    """Make a workspace unreadable and have the sweeper erase it. What `has_time` leaves is ended by the sweeper.

    Repeating it while the workspace is being erased only continues that.
    """
    known = workspaces.find(workspace)
    if known is None or not known.is_being_erased:
        ref = RunRef(workspace, workspace)
        deletion_log.record(Deletion(ref, DeletedWhole.WORKSPACE), now)
        workspaces.begin_erasure(workspace, now, Erasure(ref, ErasureKind.CLOSING, now))
    close_workspace(workspace, now, has_time)


def close_workspace(workspace: str, now: datetime, has_time: Callable[[], bool]) -> bool:
    """End access to a workspace, its schedules and its runs, as far as time allows; whether nothing is left to end."""
    return (
        tokens.erase_all(workspace, has_time)
        and _remove_schedules(workspace, has_time)
        and delete_runs(workspace, None, now, has_time)
    )


def continue_closing(erasure: Erasure, now: datetime, has_time: Callable[[], bool]) -> bool:
    """Close a workspace, then have everything erased once nobody is left who had read something of it before."""
    workspace = erasure.ref.workspace
    if not close_workspace(workspace, now, has_time):
        return False
    erasures.request(Erasure(erasure.ref, ErasureKind.WORKSPACE, now + LAST_WRITE_AFTER))
    return True


def _remove_schedules(workspace: str, has_time: Callable[[], bool]) -> bool:
    for schedule_id in schedules.list_ids(workspace):
        if not has_time():
            return False
        scheduler.remove(schedule_id)
        schedules.erase(workspace, schedule_id)
    return True
