"""The list of runs that have not ended, for the sweeper and the dispatcher, and the set of open runs of each owner.

The transactions that change a run's status maintain the list.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import size

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import ACTIVE, TERMINAL, Run
from cupel_core.domain.runs.slices import providers_of
from cupel_core.domain.runs.stalls import Stall
from cupel_core.store import keys
from cupel_core.store.batches import get_batch
from cupel_core.store.table import Item, error_code, updated

WORKSPACE = "workspace"
"""The name in place of an owner's id for the set of all open runs of the workspace."""
_REFUSED = "ConditionalCheckFailedException"


class ActiveRunItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    silent_since = UnicodeAttribute(attr_name="silentSince", null=True)
    recorded = NumberAttribute(null=True)
    recorded_since = UnicodeAttribute(attr_name="recordedSince", null=True)
    redispatches = NumberAttribute(null=True)
    lanes = UnicodeSetAttribute(null=True)
    """One `<priority> <provider>` for each provider whose models the run calls as targets; absent while the run is
    paused."""

    @classmethod
    def for_run(cls, ref: RunRef) -> "ActiveRunItem":
        return cls(keys.ACTIVE_RUNS, keys.active_run(ref), workspace=ref.workspace, run_id=ref.run_id)

    @classmethod
    def of_status(cls, run: Run) -> "ActiveRunItem":
        item = cls.for_run(RunRef(run.workspace, run.id))
        if run.status in ACTIVE:
            item.lanes = {f"{run.priority} {provider}" for provider in providers_of(run.plan)}
        return item


class ActiveRun(NamedTuple):
    ref: RunRef
    silent_since: datetime | None
    """The time since which no queue has contained a message of the run although probes are missing; None otherwise."""
    stall: Stall | None = None
    """None until the sweeper has seen the run once."""

    @property
    def sort_key(self) -> str:
        return keys.active_run(self.ref)


def list_active_runs(after: str | None = None) -> Iterator[ActiveRun]:
    for item in ActiveRunItem.query(keys.ACTIVE_RUNS, ActiveRunItem.sk > after if after else None):
        yield _active_run(item)


def list_active_runs_of(workspace: str) -> Iterator[ActiveRun]:
    for item in ActiveRunItem.query(
        keys.ACTIVE_RUNS, ActiveRunItem.sk.startswith(keys.active_run(RunRef(workspace, "")))
    ):
        yield _active_run(item)


def list_of_workspace(workspace: str, after: str | None = None) -> Iterator[RunRef]:
    if after is None:
        runs = list_active_runs_of(workspace)
    else:
        runs = takewhile(
            lambda each: each.ref.workspace == workspace, list_active_runs(keys.active_run(RunRef(workspace, after)))
        )
    return (each.ref for each in runs)


class DispatchedRun(NamedTuple):
    workspace: str
    run_id: str
    priority: str
    provider: str


def list_dispatched(workspace: str | None = None) -> Iterator[DispatchedRun]:
    """Yield the runs that are neither paused nor over, once for each provider of their targets."""
    own = ActiveRunItem.sk.startswith(keys.active_runs_of(workspace)) if workspace is not None else None
    for item in ActiveRunItem.query(keys.ACTIVE_RUNS, own):
        for lane in item.lanes or ():
            priority, _, provider = lane.partition(" ")
            yield DispatchedRun(item.workspace, item.run_id, priority, provider)


def set_silent_since(ref: RunRef, since: datetime | None) -> None:
    """Set or clear `silent_since`, unless the run has ended meanwhile. Its item is not created again."""
    action = ActiveRunItem.silent_since.set(to_iso(since)) if since else ActiveRunItem.silent_since.remove()
    updated(ActiveRunItem.for_run(ref), [action], ActiveRunItem.pk.exists())


def set_stall(ref: RunRef, stall: Stall) -> None:
    """Store what the sweeper saw of the run's progress, unless the run has ended meanwhile."""
    actions = [
        ActiveRunItem.recorded.set(stall.recorded),
        ActiveRunItem.recorded_since.set(to_iso(stall.since)),
        ActiveRunItem.redispatches.set(stall.redispatches),
    ]
    updated(ActiveRunItem.for_run(ref), actions, ActiveRunItem.pk.exists())


def _active_run(item: ActiveRunItem) -> ActiveRun:
    since = from_iso(item.silent_since) if item.silent_since else None
    stall = None
    if item.recorded is not None and item.recorded_since is not None:
        stall = Stall(int(item.recorded), from_iso(item.recorded_since), int(item.redispatches or 0))
    return ActiveRun(RunRef(item.workspace, item.run_id), since, stall)


def remove(ref: RunRef) -> None:
    ActiveRunItem.for_run(ref).delete()


class OpenRunsItem(Item):
    """The ids of an owner's or a workspace's open runs, as a set, so adding one again changes nothing. A run that ends
    stays in the set. Once its owner reaches the limit, `remove_open` removes the runs that have ended. So the end of a
    run, when many workers write at once, writes nothing here."""

    run_ids = UnicodeSetAttribute(attr_name="runIds", null=True)


def add_open(workspace: str, owner: str, run_id: str, limit: int) -> bool:
    """Add a run unless the set has reached the limit. Return whether the run is in the set now."""
    ids = OpenRunsItem.run_ids
    has_room = ids.does_not_exist() | ids.contains(run_id) | (size(ids) < limit)  # type: ignore[no-untyped-call]
    try:
        _item(workspace, owner).update([ids.add({run_id})], condition=has_room)
    except UpdateError as error:
        if error_code(error) != _REFUSED:
            raise
        return False
    return True


def remove_open(workspace: str, owner: str, run_ids: Iterable[str]) -> None:
    if gone := set(run_ids):
        _item(workspace, owner).update([OpenRunsItem.run_ids.delete(gone)])


def list_ended(workspace: str, owner: str) -> set[str]:
    """Return the runs of the set that have ended, were deleted, or were never created because their start was
    interrupted."""
    try:
        noted = set(OpenRunsItem.get(*_key(workspace, owner), consistent_read=True).run_ids or ())
    except OpenRunsItem.DoesNotExist:
        return set()
    by_key = {keys.run(RunRef(workspace, run_id)): run_id for run_id in noted}
    found = get_batch({"pk": {"S": key}, "sk": {"S": "run"}} for key in by_key)
    open_ids = {
        by_key[item["pk"]["S"]] for item in found if item["status"]["S"] not in TERMINAL and "deletedAt" not in item
    }
    return noted - open_ids


def _key(workspace: str, owner: str) -> tuple[str, str]:
    return keys.workspace_settings(workspace), f"openRuns#{owner}"


def _item(workspace: str, owner: str) -> OpenRunsItem:
    return OpenRunsItem(*_key(workspace, owner))
