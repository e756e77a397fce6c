"""Events of a run. Each is written in the transaction of the move it tells, so `seq` has no gaps."""

from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.run import Event, EventType
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item


class EventItem(Item):
    seq = NumberAttribute()
    type = UnicodeAttribute()
    ts = UnicodeAttribute()
    data = JSONAttribute()

    @classmethod
    def of(cls, ref: RunRef, seq: int, event: EventType, now: datetime, data: dict[str, object]) -> "EventItem":
        return cls(keys.run(ref), keys.event(seq), seq=seq, type=event, ts=to_iso(now), data=data)


def after(ref: RunRef, seq: int) -> tuple[Event, ...]:
    """The events with a higher `seq`, in order."""
    found = EventItem.query(
        keys.run(ref), EventItem.sk.between(keys.event(seq + 1), keys.event(99_999_999)), consistent_read=True
    )
    return tuple(Event(int(item.seq), EventType(item.type), from_iso(item.ts), item.data) for item in found)
