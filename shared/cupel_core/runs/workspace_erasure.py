"""Erasure of whole workspaces, and the repetition of all deletions after the table was restored to an earlier time.

The request to erase a workspace ends access and work, and the sweeper erases what is stored. Every step may be
repeated, and continues where the previous one ended, because what was erased is no longer found.
"""

from collections.abc import Callable
from datetime import datetime

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.definitions.files import catalog
from cupel_core.runs.erasure import delete_runs, erase_probe, erase_with_runs
from cupel_core.store import (
    chats,
    data_files,
    definitions,
    deletion_log,
    erasures,
    outcomes,
    runs,
    scheduler,
    schedules,
    tokens,
    workspaces,
)
from cupel_core.store.deletion_log import DeletedWhole, Deletion
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureKind


def erase_workspace(workspace: str, now: datetime, has_time: Callable[[], bool]) -> None:
    """Make a workspace unreadable and have the sweeper erase it. What `has_time` leaves is ended by the sweeper.
    Repeating it while the workspace is being erased only continues that."""
    known = workspaces.find(workspace)
    if known is None or not known.is_being_erased:
        ref = RunRef(workspace, workspace)
        deletion_log.record(Deletion(ref, DeletedWhole.WORKSPACE), now)
        workspaces.begin_erasure(workspace, now, Erasure(ref, ErasureKind.CLOSING, now))
    close_workspace(workspace, now, has_time)


def close_workspace(workspace: str, now: datetime, has_time: Callable[[], bool]) -> bool:
    """End access to a workspace, its schedules and its runs, while `has_time` allows. Return whether nothing is
    left."""
    return (
        tokens.erase_all(workspace, has_time)
        and _remove_schedules(workspace, has_time)
        and delete_runs(workspace, None, now, has_time)
    )


def continue_closing(erasure: Erasure, now: datetime, has_time: Callable[[], bool]) -> bool:
    """Close a workspace, then request its erasure once no invocation is left that had read something of it before."""
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


def reapply_deletions(now: datetime) -> int:
    """Repeat all recorded deletions, after the table was restored to an earlier time. Return their number."""
    count = 0
    for deletion in deletion_log.list_deletions():
        _reapply(deletion, now)
        count += 1
    return count


def _reapply(deletion: Deletion, now: datetime) -> None:
    match deletion.what:
        case DeletedWhole.WORKSPACE:
            _reapply_to_workspace(deletion, now)
        case DeletedWhole.DEFINITION:
            _reapply_to_definition(deletion.ref, now)
        case DeletedWhole.FILE:
            _reapply_to_file(deletion, now)
        case DeletedWhole.CHAT:
            ref = ChatRef(*deletion.ref)
            if chats.delete(ref, now):
                chats.request_erasure(ref, now)
        case DeletedWhole.DATA_FILE:
            data_files.delete(*deletion.ref)
        case _:
            _reapply_to_run(deletion, now)


def _reapply_to_workspace(deletion: Deletion, now: datetime) -> None:
    """Erase the workspace again, unless the table is from after the erasure, or has a new workspace of the name."""
    known = workspaces.find(deletion.ref.workspace)
    created_at = known.created_at if known else None
    if known is not None and known.is_erased:
        return
    if created_at is None or created_at <= deletion_log.get_time(deletion):
        erase_workspace(deletion.ref.workspace, now, lambda: True)


def _reapply_to_definition(ref: RunRef, now: datetime) -> None:
    """Erase the definition again, with restored forks: its erasure was only allowed when no forks were left."""
    head = definitions.find(*ref)
    if head is None:
        return
    if head.deleted_at is None:
        definitions.delete(ref.workspace, head, now)
    erase_with_runs(ref, now, lambda: True)


def _reapply_to_file(deletion: Deletion, now: datetime) -> None:
    """Erase the file again, unless it was stored again after the deletion."""
    try:
        file = catalog.get(*deletion.ref)
    except NotFound:
        return
    if file.created_at <= deletion_log.get_time(deletion):
        catalog.delete(*deletion.ref, now)


def _reapply_to_run(deletion: Deletion, now: datetime) -> None:
    ref = deletion.ref
    try:
        run = runs.get(ref)
    except NotFound:
        return  # It was started after the backup, or deleted before it.
    if isinstance(deletion.what, DeletedWhole):
        runs.delete(ref, now, erase_from=now)
    elif not _was_retried_since(deletion, deletion.what):
        erase_probe(run, deletion.what, now)


def _was_retried_since(deletion: Deletion, index: int) -> bool:
    """Return whether the outcome is of a retry after the deletion, so that it was not deleted."""
    outcome = outcomes.get(deletion.ref, index)
    return outcome is not None and outcome.created_at > deletion_log.get_time(deletion)
