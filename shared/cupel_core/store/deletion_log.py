"""What users have deleted: ids only, in the bucket, so that it survives a restore of the table to an earlier time.

The bucket's lifecycle rule removes a record when no backup is left that is older than the deletion.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import RunRef
from cupel_core.store import blobs, keys


class Deletion(NamedTuple):
    ref: RunRef
    probe_index: int | None
    """None if the run was deleted."""


def record(deletion: Deletion, now: datetime) -> None:
    """Record a deletion before it is carried out."""
    blobs.put_json(keys.deletion_blob(*deletion), {"deletedAt": to_iso(now)})


def get_time(deletion: Deletion) -> datetime:
    """When it was last deleted. Raises NotFound if the record has expired."""
    return from_iso(blobs.get_json(keys.deletion_blob(*deletion))["deletedAt"])


def list_deletions() -> Iterator[Deletion]:
    """All recorded deletions, of all workspaces."""
    for key in blobs.list_keys(keys.DELETIONS):
        _, workspace, run_id, name = key.split("/")
        what = name.partition(".")[0]
        yield Deletion(RunRef(workspace, run_id), None if what == "run" else int(what))
