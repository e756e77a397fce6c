"""Workspaces that operators have created or erased. Others have no item: those of `cupel tokens bootstrap` and of JWTs.

The item of an erased workspace stays. It shows whether a restored table is from before the erasure.
"""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.paging import Creation, Page, fill_page
from cupel_core.domain.access import Workspace
from cupel_core.store import keys
from cupel_core.store.erasures import Erasure, ErasureItem
from cupel_core.store.listing import list_newest
from cupel_core.store.table import Item, connection


class WorkspaceItem(Item):
    created_at = UnicodeAttribute(attr_name="createdAt", null=True)
    """Absent if no operator has created the workspace."""
    erased_at = UnicodeAttribute(attr_name="erasedAt", null=True)
    erasure_completed_at = UnicodeAttribute(attr_name="erasureCompletedAt", null=True)


def is_free() -> Condition:
    """Return the write condition that a name may be used for a new workspace."""
    free: Condition = WorkspaceItem.pk.does_not_exist() | WorkspaceItem.erasure_completed_at.exists()
    return free


def find(name: str) -> Workspace | None:
    """Return the workspace. The read is strongly consistent: an erased workspace is unreadable at once."""
    try:
        return _workspace(WorkspaceItem.get(keys.WORKSPACES, name, consistent_read=True))
    except WorkspaceItem.DoesNotExist:
        return None


def list_workspaces(limit: int, cursor: str | None) -> Page[Workspace]:
    by_name = Creation(oldest_first=True)
    entries = list_newest(WorkspaceItem, keys.WORKSPACES, limit, cursor, by_sort_key=True, created=by_name)
    return fill_page((entry.map(_workspace) for entry in entries), limit)


def begin_erasure(name: str, now: datetime, erasure: Erasure) -> None:
    """Mark the workspace as erased and enter it in the list of erasures."""
    with TransactWrite(connection=connection()) as transaction:
        actions: list[Action] = [WorkspaceItem.erased_at.set(to_iso(now)), WorkspaceItem.erasure_completed_at.remove()]
        transaction.update(WorkspaceItem(keys.WORKSPACES, name), actions=actions)
        transaction.save(ErasureItem.for_erasure(erasure))


def complete_erasure(name: str, now: datetime) -> None:
    WorkspaceItem(keys.WORKSPACES, name).update([WorkspaceItem.erasure_completed_at.set(to_iso(now))])


def _workspace(item: WorkspaceItem) -> Workspace:
    return Workspace(item.sk, *map(_time, (item.created_at, item.erased_at, item.erasure_completed_at)))


def _time(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
