"""The list of content that is due to be erased, soonest first. The sweeper carries it out.

One erasure may take many sweeps; `next_block` is where the next one continues.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, updated

LAST_WRITE_AFTER = timedelta(minutes=20)
"""An invocation that read the content before its deletion may write until then; the longest invocation takes 15
minutes."""


class ErasureKind(StrEnum):
    RUN = "run"
    PROBE = "probe"
    RUNS = "runs"
    """The runs of an erased definition are deleted, if its request had no time. `run_id` is the definition's id."""
    DEFINITION = "definition"
    """Everything of an erased definition is erased. `run_id` is its id."""
    CLOSING = "closing"
    """Activity in an erased workspace is ended, if its request had no time. `run_id` is the workspace."""
    WORKSPACE = "workspace"
    """Everything of an erased workspace is erased. `run_id` is the workspace."""
    WORKSPACE_AGAIN = "workspace-again"
    """The workspace is erased once more, because late writers may have read something of it before."""
    FILE = "file"
    """The content of a deleted file is erased. `run_id` is the file's id."""
    CHAT = "chat"
    """Everything of a deleted chat is erased. `run_id` is the chat's id."""
    EXPIRED_CHAT = "expired-chat"
    """A chat whose retention period has ended is erased, unless it was changed since."""
    EXPIRED = "expired"


@dataclass(frozen=True)
class Erasure:
    ref: RunRef
    kind: ErasureKind
    due: datetime
    probe_index: int | None = None
    retry_round: int | None = None
    next_block: int = 0
    remaining: datetime | None = None
    """The time when the earliest content expires that earlier sweeps have left."""

    def postponed_to(self, due: datetime) -> "Erasure":
        return replace(self, due=due, next_block=0, remaining=None)


class ErasureItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    kind = UnicodeAttribute()
    due = UnicodeAttribute()
    probe_index = NumberAttribute(attr_name="probeIndex", null=True)
    retry_round = NumberAttribute(attr_name="retryRound", null=True)
    next_block = NumberAttribute(attr_name="nextBlock", null=True)
    remaining = UnicodeAttribute(null=True)

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
            retry_round=erasure.retry_round,
        )


def request(erasure: Erasure) -> None:
    ErasureItem.for_erasure(erasure).save()


def list_due(now: datetime) -> Iterator[Erasure]:
    yield from map(_from_item, ErasureItem.query(keys.ERASURES, ErasureItem.sk < to_iso(now)))


def list_after(position: str | None) -> Iterator[tuple[str, Erasure]]:
    """Yield all erasures after a sort key, due or not, each with its own sort key."""
    for item in ErasureItem.query(keys.ERASURES, ErasureItem.sk > position if position else None):
        yield item.sk, _from_item(item)


def set_progress(erasure: Erasure, next_block: int, remaining: datetime | None) -> None:
    actions = [ErasureItem.next_block.set(next_block)]
    if remaining is not None:
        actions.append(ErasureItem.remaining.set(to_iso(remaining)))
    updated(ErasureItem.for_erasure(erasure), actions, ErasureItem.pk.exists())


def remove(erasure: Erasure) -> None:
    ErasureItem.for_erasure(erasure).delete()


def _from_item(item: ErasureItem) -> Erasure:
    return Erasure(
        ref=RunRef(item.workspace, item.run_id),
        kind=ErasureKind(item.kind),
        due=from_iso(item.due),
        probe_index=None if item.probe_index is None else int(item.probe_index),
        retry_round=None if item.retry_round is None else int(item.retry_round),
        next_block=int(item.next_block or 0),
        remaining=from_iso(item.remaining) if item.remaining else None,
    )
