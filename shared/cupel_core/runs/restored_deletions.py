"""Repeats what users have deleted, after the table was restored to an earlier time."""

from datetime import datetime

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.definitions.files import catalog
from cupel_core.runs.erasure import erase_probe, erase_with_runs
from cupel_core.runs.workspace_erasure import erase_workspace
from cupel_core.store import chats, data_files, definitions, deletion_log, outcomes, runs, workspaces
from cupel_core.store.deletion_log import DeletedWhole, Deletion


def reapply_deletions(now: datetime) -> int:
    """Repeat all recorded deletions, after the table was restored to an earlier time; returns how many there are."""
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
    """Unless the table is from after the erasure, or has a new workspace of the name."""
    known = workspaces.find(deletion.ref.workspace)
    created_at = known.created_at if known else None
    if known is not None and known.is_erased:
        return
    if created_at is None or created_at <= deletion_log.get_time(deletion):
        erase_workspace(deletion.ref.workspace, now, lambda: True)


def _reapply_to_definition(ref: RunRef, now: datetime) -> None:
    """Its forks do not matter: there were none, so those that were restored are erased again too."""
    head = definitions.find(*ref)
    if head is None:
        return
    if head.deleted_at is None:
        definitions.delete(ref.workspace, head, now)
    erase_with_runs(ref, now, lambda: True)


def _reapply_to_file(deletion: Deletion, now: datetime) -> None:
    """Unless the file was stored again after the deletion."""
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
        return  # Not yet started at the time of the backup, or deleted before it.
    if isinstance(deletion.what, DeletedWhole):
        runs.delete(ref, now, erase_from=now)
    elif not _was_retried_since(deletion, deletion.what):
        erase_probe(run, deletion.what, now)


def _was_retried_since(deletion: Deletion, index: int) -> bool:
    """Whether the outcome is of a retry after the deletion, which nobody has deleted."""
    outcome = outcomes.get(deletion.ref, index)
    return outcome is not None and outcome.created_at > deletion_log.get_time(deletion)
