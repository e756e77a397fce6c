"""Token buckets that limit a caller's or workspace's requests. Each is one item, changed by draws and never read."""

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
    """Take the permits of one draw from the bucket of a caller or workspace. Return False if it has too few."""
    return draw_from(RequestRateItem(keys.token(digest), _RATE), limit.draw_seconds, limit.window_seconds, now)


def draw_from(bucket: RequestRateItem, seconds: float, window_seconds: float, now: float) -> bool:
    """Take the permits that are refilled within `seconds`. An empty bucket is full after `window_seconds`."""
    ttl = RequestRateItem.ttl.set(int(now + window_seconds) + _STORED_SECONDS)
    full_at = RequestRateItem.full_at
    has_permits = full_at.between(now, now + window_seconds - seconds)
    if updated(bucket, [full_at.add(seconds), ttl], has_permits):
        return True
    is_full = full_at.does_not_exist() | (full_at <= now)
    return updated(bucket, [full_at.set(now + seconds), ttl], is_full)
