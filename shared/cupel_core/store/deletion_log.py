"""The log of deletions by users: ids only, in the bucket, so that it survives a restore of the table to an earlier
time.

The bucket's lifecycle rule removes a record when no backup is left that is older than the deletion.
"""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.store import blobs, object_names


class DeletedWhole(StrEnum):
    RUN = "run"
    DEFINITION = "definition"
    WORKSPACE = "workspace"
    FILE = "file"
    DATA_FILE = "data-file"
    CHAT = "chat"


class Deletion(NamedTuple):
    ref: RunRef
    """The run. If something else was deleted, its id (a workspace's name) takes the place of the run's id."""
    what: int | DeletedWhole
    """The index of the probe whose content was deleted, or the kind of what was deleted as a whole."""


def record(deletion: Deletion, now: datetime) -> None:
    blobs.put_json(object_names.deletion_blob(*deletion), {"deletedAt": to_iso(now)})


def get_time(deletion: Deletion) -> datetime:
    """Return when it was last deleted. Raise NotFound if the record has expired."""
    return from_iso(blobs.get_json(object_names.deletion_blob(*deletion))["deletedAt"])


def list_deletions() -> Iterator[Deletion]:
    for key in blobs.list_keys(object_names.DELETIONS):
        _, workspace, run_id, name = key.split("/")
        what = name.partition(".")[0]
        yield Deletion(RunRef(workspace, run_id), int(what) if what.isdigit() else DeletedWhole(what))
