"""Events of a run. Each is written in the transaction of the change it reports, so `seq` has no gaps."""

from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import RunEvent, RunEventType
from cupel_core.store import keys
from cupel_core.store.table import Item


class EventItem(Item):
    seq = NumberAttribute()
    type = UnicodeAttribute()
    ts = UnicodeAttribute()
    data = JSONAttribute()

    @classmethod
    def for_run(cls, ref: RunRef, seq: int, event: RunEventType, now: datetime, data: dict[str, object]) -> "EventItem":
        return cls(keys.run(ref), keys.event(seq), seq=seq, type=event, ts=to_iso(now), data=data)


def list_after(ref: RunRef, seq: int) -> tuple[RunEvent, ...]:
    items = EventItem.query(
        keys.run(ref), EventItem.sk.between(keys.event(seq + 1), keys.event(99_999_999)), consistent_read=True
    )
    return tuple(RunEvent(int(item.seq), RunEventType(item.type), from_iso(item.ts), item.data) for item in items)
