"""How much of its limit a caller has used: one item, changed by draws of permits and never read."""

from pynamodb.attributes import NumberAttribute

from cupel_core.domain.limits.request_rate import RequestLimit
from cupel_core.store import keys
from cupel_core.store.table import Item, updated

_RATE = "rate"
_STORED_SECONDS = 86_400


class RequestRateItem(Item):
    full_at = NumberAttribute(attr_name="fullAt")
    """Unix time at which all permits will be available again."""
    ttl = NumberAttribute()


def draw(digest: str, limit: RequestLimit, now: float) -> bool:
    """Take the permits of one draw from the bucket of a caller; False if it has too few."""
    item = RequestRateItem(keys.token(digest), _RATE)
    ttl = RequestRateItem.ttl.set(int(now) + _STORED_SECONDS)
    full_at = RequestRateItem.full_at
    has_permits = full_at.between(now, limit.latest_full_at(now))
    if updated(item, [full_at.add(limit.draw_seconds), ttl], has_permits):
        return True
    is_full = full_at.does_not_exist() | (full_at <= now)
    return updated(item, [full_at.set(now + limit.draw_seconds), ttl], is_full)
