"""The log of a workspace's webhook: one item per call, with its newest attempt, stored for 14 days."""

from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.paging import Page, decode_cursor, encode_cursor
from cupel_core.domain.resources.webhooks import CallbackRecord, CallbackStatus
from cupel_core.store import keys
from cupel_core.store.table import Item

RETENTION = timedelta(days=14)


class CallbackRecordItem(Item):
    type = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    status = UnicodeAttribute()
    attempts = NumberAttribute()
    attempted_at = UnicodeAttribute(attr_name="attemptedAt")
    http_status = NumberAttribute(attr_name="httpStatus", null=True)
    error = UnicodeAttribute(null=True)
    next_attempt_at = UnicodeAttribute(attr_name="nextAttemptAt", null=True)
    ttl = NumberAttribute()


def save(workspace: str, record: CallbackRecord) -> None:
    CallbackRecordItem(
        keys.callback_log(workspace),
        f"{to_iso(record.created_at)}#{record.id}",
        type=record.type,
        run_id=record.run_id,
        status=record.status,
        attempts=record.attempts,
        attempted_at=to_iso(record.attempted_at),
        http_status=record.http_status,
        error=record.error,
        next_attempt_at=to_iso(record.next_attempt_at) if record.next_attempt_at else None,
        ttl=int((record.attempted_at + RETENTION).timestamp()),
    ).save()


def list_records(workspace: str, limit: int, cursor: str | None, now: datetime) -> Page[CallbackRecord]:
    below = CallbackRecordItem.sk < decode_cursor(cursor) if cursor else None
    newest = CallbackRecordItem.query(
        keys.callback_log(workspace),
        below,
        filter_condition=CallbackRecordItem.ttl > int(now.timestamp()),
        scan_index_forward=False,
    )
    items: list[CallbackRecordItem] = []
    for item in newest:
        if len(items) == limit:
            return _page(items, cursor, encode_cursor(items[-1].sk))
        items.append(item)
    return _page(items, cursor, None)


def _page(items: list[CallbackRecordItem], cursor: str | None, following: str | None) -> Page[CallbackRecord]:
    """Build the page. The cursor of an item is the sort key of the one before it."""
    cursors = (cursor or "", *(encode_cursor(each.sk) for each in items[:-1]))
    return Page(tuple(map(_record, items)), following, cursors[: len(items)])


def _record(item: CallbackRecordItem) -> CallbackRecord:
    created_at, _, record_id = item.sk.partition("#")
    return CallbackRecord(
        id=record_id,
        type=item.type,
        run_id=item.run_id,
        status=CallbackStatus(item.status),
        attempts=int(item.attempts),
        created_at=from_iso(created_at),
        attempted_at=from_iso(item.attempted_at),
        http_status=None if item.http_status is None else int(item.http_status),
        error=item.error,
        next_attempt_at=from_iso(item.next_attempt_at) if item.next_attempt_at else None,
    )
