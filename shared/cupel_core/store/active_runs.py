"""The runs that are not over: what the sweeper looks at. Kept by the transactions that create and move runs."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item


class ActiveItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    silent_since = UnicodeAttribute(attr_name="silentSince", null=True)

    @classmethod
    def of(cls, ref: RunRef) -> "ActiveItem":
        return cls(keys.ACTIVE, keys.active(ref), workspace=ref.workspace, run_id=ref.run_id)


class Active(NamedTuple):
    ref: RunRef
    silent_since: datetime | None
    """Since when no queue has held a message of the run though probes are missing."""


def every() -> Iterator[Active]:
    for item in ActiveItem.query(keys.ACTIVE):
        since = from_iso(item.silent_since) if item.silent_since else None
        yield Active(RunRef(item.workspace, item.run_id), since)


def note_silence(ref: RunRef, since: datetime | None) -> None:
    """Never brings a run back that is over."""
    action = ActiveItem.silent_since.set(to_iso(since)) if since else ActiveItem.silent_since.remove()
    ActiveItem.of(ref).update(actions=[action], condition=ActiveItem.pk.exists())


def forget(ref: RunRef) -> None:
    ActiveItem.of(ref).delete()
