"""The audit log of a workspace: one item per request that changed something, stored for a year."""

from datetime import datetime, timedelta

from pynamodb.attributes import ListAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.paging import Page, decode_cursor, encode_cursor
from cupel_core.domain.access import AccessRole, AuditRecord, Caller
from cupel_core.store import keys
from cupel_core.store.table import Item

RETENTION = timedelta(days=365)
MAX_EXAMINED = 1_000
"""A page with a filter examines at most this many items."""


class AuditItem(Item):
    token_id = UnicodeAttribute(attr_name="tokenId")
    user_name = UnicodeAttribute(attr_name="userName", null=True)
    role = UnicodeAttribute()
    operation = UnicodeAttribute()
    path = UnicodeAttribute()
    status = NumberAttribute()
    created_ids = ListAttribute[UnicodeAttribute](attr_name="createdIds", of=UnicodeAttribute, null=True)
    deleted_ids = ListAttribute[UnicodeAttribute](attr_name="deletedIds", of=UnicodeAttribute, null=True)
    ttl = NumberAttribute()


def append(record: AuditRecord) -> None:
    AuditItem(
        keys.audit_log(record.caller.workspace),
        f"{to_iso(record.at)}#{record.request_id}",
        token_id=record.caller.token_id,
        user_name=record.caller.user_name,
        role=record.caller.role,
        operation=record.operation,
        path=record.path,
        status=record.status,
        created_ids=None if record.created_ids is None else list(record.created_ids),
        deleted_ids=None if record.deleted_ids is None else list(record.deleted_ids),
        ttl=int((record.at + RETENTION).timestamp()),
    ).save()


def list_records(
    workspace: str, limit: int, cursor: str | None, now: datetime, token_id: str | None, operation: str | None
) -> Page[AuditRecord]:
    """Return a page, newest first. With a filter it may have fewer records than `limit`, even none, and a following
    page."""
    before = AuditItem.sk < decode_cursor(cursor) if cursor else None
    found: list[AuditRecord] = []
    cursors: list[str] = []
    last = None if cursor is None else decode_cursor(cursor)
    for examined, item in enumerate(AuditItem.query(keys.audit_log(workspace), before, scan_index_forward=False)):
        if len(found) == limit or examined == MAX_EXAMINED:
            return Page(tuple(found), encode_cursor(last or ""), tuple(cursors))
        if item.ttl > now.timestamp() and token_id in (None, item.token_id) and operation in (None, item.operation):
            found.append(_record(workspace, item))
            cursors.append("" if last is None else encode_cursor(last))
        last = item.sk
    return Page(tuple(found), None, tuple(cursors))


def _record(workspace: str, item: AuditItem) -> AuditRecord:
    at, _, request_id = item.sk.partition("#")
    caller = Caller(workspace, AccessRole(item.role), item.token_id, item.user_name)
    return AuditRecord(
        request_id,
        from_iso(at),
        caller,
        item.operation,
        item.path,
        int(item.status),
        created_ids=None if item.created_ids is None else tuple(map(str, item.created_ids)),
        deleted_ids=None if item.deleted_ids is None else tuple(map(str, item.deleted_ids)),
    )
