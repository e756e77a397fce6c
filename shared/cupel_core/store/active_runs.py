"""The runs that have not ended, for the sweeper. The transactions that change a run's status maintain the list."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item


class ActiveRunItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    silent_since = UnicodeAttribute(attr_name="silentSince", null=True)

    @classmethod
    def for_run(cls, ref: RunRef) -> "ActiveRunItem":
        return cls(keys.ACTIVE_RUNS, keys.active_run(ref), workspace=ref.workspace, run_id=ref.run_id)


class ActiveRun(NamedTuple):
    ref: RunRef
    silent_since: datetime | None
    """Since when no queue has contained a message of the run although probes are missing; None otherwise."""


def list_active_runs() -> Iterator[ActiveRun]:
    """All runs that have not ended, of all workspaces."""
    for item in ActiveRunItem.query(keys.ACTIVE_RUNS):
        since = from_iso(item.silent_since) if item.silent_since else None
        yield ActiveRun(RunRef(item.workspace, item.run_id), since)


def list_of_workspace(workspace: str) -> Iterator[RunRef]:
    """The workspace's runs that have not ended."""
    for item in ActiveRunItem.query(keys.ACTIVE_RUNS, ActiveRunItem.sk.startswith(keys.active_runs_of(workspace))):
        yield RunRef(item.workspace, item.run_id)


def set_silent_since(ref: RunRef, since: datetime | None) -> None:
    """Set or clear `silent_since`. Raises UpdateError if the run has ended, so that its item is not created again."""
    action = ActiveRunItem.silent_since.set(to_iso(since)) if since else ActiveRunItem.silent_since.remove()
    ActiveRunItem.for_run(ref).update(actions=[action], condition=ActiveRunItem.pk.exists())


def remove(ref: RunRef) -> None:
    """Remove a run from the list, for one that no longer exists."""
    ActiveRunItem.for_run(ref).delete()
