"""Content that is due to be erased: by run, soonest first. The sweeper carries it out.

One erasure may take many sweeps; `next_block` is where the next one continues.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, updated


class ErasureKind(StrEnum):
    RUN = "run"
    """Everything of a deleted run."""
    PROBE = "probe"
    """The content of one probe, once more."""
    EXPIRED = "expired"
    """The run's content whose retention period has ended."""


@dataclass(frozen=True)
class Erasure:
    ref: RunRef
    kind: ErasureKind
    due: datetime
    probe_index: int | None = None
    next_block: int = 0


class ErasureItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    kind = UnicodeAttribute()
    due = UnicodeAttribute()
    probe_index = NumberAttribute(attr_name="probeIndex", null=True)
    next_block = NumberAttribute(attr_name="nextBlock", null=True)

    @classmethod
    def for_erasure(cls, erasure: Erasure) -> "ErasureItem":
        what = erasure.kind if erasure.probe_index is None else f"{erasure.kind}#{erasure.probe_index}"
        return cls(
            keys.ERASURES,
            keys.erasure(to_iso(erasure.due), erasure.ref, what),
            workspace=erasure.ref.workspace,
            run_id=erasure.ref.run_id,
            kind=erasure.kind,
            due=to_iso(erasure.due),
            probe_index=erasure.probe_index,
            next_block=erasure.next_block or None,
        )


def request(erasure: Erasure) -> None:
    ErasureItem.for_erasure(erasure).save()


def list_due(now: datetime) -> Iterator[Erasure]:
    """The erasures that are due, soonest first."""
    for item in ErasureItem.query(keys.ERASURES, ErasureItem.sk < to_iso(now)):
        yield Erasure(
            ref=RunRef(item.workspace, item.run_id),
            kind=ErasureKind(item.kind),
            due=from_iso(item.due),
            probe_index=None if item.probe_index is None else int(item.probe_index),
            next_block=int(item.next_block or 0),
        )


def set_progress(erasure: Erasure, next_block: int) -> None:
    """Note how far the erasure has come."""
    updated(ErasureItem.for_erasure(erasure), [ErasureItem.next_block.set(next_block)], ErasureItem.pk.exists())


def remove(erasure: Erasure) -> None:
    ErasureItem.for_erasure(erasure).delete()
