"""Upper bounds of how much of its quotas a workspace uses: a counter per quota.

Every creation first adds to the counter, on condition that the quota is not exceeded. Nothing is subtracted when
something is deleted, expires, or is never created because the request failed. Instead, once a counter has reached its
quota, the existing items are counted. So a counter is never too low, except for requests in progress during that count;
the next count finds what these have created. It may be too high, until the rest of the quota is needed.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from cupel_core.base.clock import from_iso, to_iso, utc_now
from cupel_core.base.errors import QuotaExceeded, TooManyCreations
from cupel_core.domain.limits.quotas import Quota, refusal
from cupel_core.store import keys, request_rates
from cupel_core.store.request_rates import RequestRateItem
from cupel_core.store.settings import settings
from cupel_core.store.table import CreationIndex, Item, updated

RECOUNT_SECONDS = 5
"""Within this time, refused requests do not count again."""
_MAX_READS = 20
"""A count reads at most this many pages of 1 MB. A workspace that needs more counts as using the whole quota."""
_DAY = timedelta(days=1)
_NOT_COUNTED = frozenset({Quota.FILE_BYTES, Quota.CREATIONS_PER_DAY})
"""The amount taken of these quotas is not a number of creations."""


class QuotaItem(Item):
    used = NumberAttribute()
    counted_at = NumberAttribute(attr_name="countedAt")


class _StoredItem(Item):
    """The attributes by which an item of any kind is counted."""

    creation_index = CreationIndex()
    size = NumberAttribute(null=True)
    status = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute(attr_name="createdAt", null=True)
    revoked_at = UnicodeAttribute(attr_name="revokedAt", null=True)
    expires_at = UnicodeAttribute(attr_name="expiresAt", null=True)
    ttl = NumberAttribute(null=True)


def take(workspace: str, quota: Quota, amount: int = 1) -> None:
    """Count something that is about to be created. Raise QuotaExceeded or TooManyCreations."""
    limit, now = settings().workspace_quotas.limit(quota), utc_now()
    if quota not in _NOT_COUNTED:
        _take_of_day(workspace, now.timestamp())
    if _add(workspace, quota, amount, limit):
        return
    _recount(workspace, quota, limit, now)
    if not _add(workspace, quota, amount, limit):
        raise QuotaExceeded(refusal(quota, limit))


def _take_of_day(workspace: str, now: float) -> None:
    limit = settings().workspace_quotas.limit(Quota.CREATIONS_PER_DAY)
    seconds = _DAY.total_seconds() / max(1, limit)
    bucket = RequestRateItem(keys.workspace_settings(workspace), _sort_key(Quota.CREATIONS_PER_DAY))
    if not limit or not request_rates.draw_from(bucket, seconds, _DAY.total_seconds(), now):
        raise TooManyCreations(refusal(Quota.CREATIONS_PER_DAY, limit), seconds)


def _add(workspace: str, quota: Quota, amount: int, limit: int) -> bool:
    return amount <= limit and updated(
        _item(workspace, quota), [QuotaItem.used.add(amount)], QuotaItem.used <= limit - amount
    )


def _recount(workspace: str, quota: Quota, limit: int, now: datetime) -> None:
    """Count what exists, unless that was done just now. A concurrent change of the counter takes precedence."""
    try:
        before = QuotaItem.get(keys.workspace_settings(workspace), _sort_key(quota), consistent_read=True)
    except QuotaItem.DoesNotExist:
        before = None
    if before is not None and now.timestamp() < before.counted_at + RECOUNT_SECONDS:
        return
    is_same = QuotaItem.pk.does_not_exist() if before is None else QuotaItem.used == before.used
    actions = [QuotaItem.used.set(_COUNTS[quota](workspace, limit, now)), QuotaItem.counted_at.set(now.timestamp())]
    updated(_item(workspace, quota), actions, is_same)


def _item(workspace: str, quota: Quota) -> QuotaItem:
    return QuotaItem(keys.workspace_settings(workspace), _sort_key(quota))


def _sort_key(quota: Quota) -> str:
    return f"quota#{quota}"


def _count(partition: str, limit: int, *, condition: Condition | None = None, is_creation_list: bool = False) -> int:
    """Return how many items a partition has, at most `limit`."""
    pages = _StoredItem.query(
        partition,
        filter_condition=condition,
        index_name=CreationIndex.Meta.index_name if is_creation_list else None,
        attributes_to_get=["pk", "sk"],
        consistent_read=not is_creation_list,
    ).page_iter
    count = 0
    for reads, page in enumerate(pages, 1):
        count += len(page["Items"])
        if count >= limit or (reads >= _MAX_READS and pages.last_evaluated_key is not None):
            return limit
    return count


def _count_tokens(workspace: str, limit: int, now: datetime) -> int:
    """Count the tokens that can be used. Only sessions have a time to live."""
    is_live = _StoredItem.revoked_at.does_not_exist() & (
        _StoredItem.expires_at.does_not_exist() | (_StoredItem.expires_at > to_iso(now))
    )
    return _count(keys.tokens(workspace), limit, condition=is_live & _StoredItem.ttl.does_not_exist())


def _count_sessions(workspace: str, limit: int, now: datetime) -> int:
    is_live = _StoredItem.revoked_at.does_not_exist() & (_StoredItem.expires_at > to_iso(now))
    return _count(keys.tokens(workspace), limit, condition=is_live & _StoredItem.ttl.exists())


def _count_definitions(workspace: str, limit: int, _now: datetime) -> int:
    return _count(keys.scenario_owners(workspace), limit)


def _count_listed(plural: str) -> Callable[[str, int, datetime], int]:
    return lambda workspace, limit, _now: _count(keys.creation_list(workspace, plural), limit, is_creation_list=True)


def _count_names(kind: str) -> Callable[[str, int, datetime], int]:
    """Count resources by their names, which are small items and exist only while a resource is not deleted."""
    return lambda workspace, limit, _now: _count(keys.resource_names(workspace, kind), limit)


def _file_sizes(workspace: str, now: datetime) -> list[int]:
    """Return the sizes of files that are not erased yet, and the announced sizes of uploads that are not complete."""
    sizes = []
    for partition in (keys.files(workspace), keys.data_files(workspace)):
        for item in _StoredItem.query(partition, consistent_read=True):
            is_expired = item.ttl is not None and item.ttl < now.timestamp()
            is_upload = item.status is not None and item.status.islower()
            is_over = is_upload and (item.status != "pending" or from_iso(item.created_at) < now - _DAY)
            if not is_expired and not is_over:
                sizes.append(int(item.size))
    return sizes


_COUNTS: Mapping[Quota, Callable[[str, int, datetime], int]] = MappingProxyType(
    {
        Quota.TOKENS: _count_tokens,
        Quota.SESSIONS: _count_sessions,
        Quota.DEFINITIONS: _count_definitions,
        Quota.SCHEDULES: _count_listed("schedules"),
        Quota.CHATS: _count_listed("chats"),
        Quota.FILES: lambda workspace, _limit, now: len(_file_sizes(workspace, now)),
        Quota.FILE_BYTES: lambda workspace, _limit, now: sum(_file_sizes(workspace, now)),
        Quota.PERSONAS: _count_names("persona"),
        Quota.CONNECTORS: _count_names("connector"),
        Quota.EVALS: _count_names("eval"),
        Quota.EXPERIMENTS: _count_names("experiment"),
        Quota.PROFILES: _count_names("profile"),
    }
)
