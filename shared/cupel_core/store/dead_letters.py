"""Dead letters by workspace. SQS keeps those of all workspaces in one queue, from which the sweeper moves them here."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from cupel_core.base.messages import ProbeSlice
from cupel_core.base.paging import Page, decode_cursor, encode_cursor
from cupel_core.domain.runs.run import Priority
from cupel_core.store import keys
from cupel_core.store.table import Item

RETENTION = timedelta(days=14)


class StoredDeadLetter(NamedTuple):
    message_id: str
    provider: str
    priority: Priority
    receive_count: int
    probe_slice: ProbeSlice


class DeadLetterItem(Item):
    message_id = UnicodeAttribute(attr_name="messageId")
    provider = UnicodeAttribute()
    priority = UnicodeAttribute()
    receive_count = NumberAttribute(attr_name="receiveCount")
    body = UnicodeAttribute()
    ttl = NumberAttribute()

    @property
    def letter(self) -> StoredDeadLetter:
        probe_slice = ProbeSlice.model_validate_json(self.body)
        return StoredDeadLetter(
            self.message_id, self.provider, Priority(self.priority), int(self.receive_count), probe_slice
        )


def save(letter: StoredDeadLetter, now: datetime) -> None:
    DeadLetterItem(
        keys.dead_letters(letter.probe_slice.workspace),
        keys.dead_letter(letter.provider, letter.message_id),
        message_id=letter.message_id,
        provider=letter.provider,
        priority=letter.priority,
        receive_count=letter.receive_count,
        body=letter.probe_slice.to_body(),
        ttl=int((now + RETENTION).timestamp()),
    ).save()


def list_page(workspace: str, provider: str | None, limit: int, cursor: str | None) -> Page[StoredDeadLetter]:
    """Return a page of the workspace's dead letters by provider. With None for `provider`, it has those of all."""
    items: list[DeadLetterItem] = []
    for item in _query(workspace, provider, decode_cursor(cursor) if cursor else None, limit + 1):
        if len(items) == limit:
            return _page(items, cursor, encode_cursor(items[-1].sk))
        items.append(item)
    return _page(items, cursor, None)


def _page(items: list[DeadLetterItem], cursor: str | None, following: str | None) -> Page[StoredDeadLetter]:
    """Build the page. The cursor of an item is the sort key of the one before it."""
    cursors = (cursor or "", *(encode_cursor(each.sk) for each in items[:-1]))
    return Page(tuple(each.letter for each in items), following, cursors[: len(items)])


def list_all(workspace: str, provider: str | None = None) -> Iterator[StoredDeadLetter]:
    for item in _query(workspace, provider):
        yield item.letter


def remove(letter: StoredDeadLetter) -> None:
    DeadLetterItem(
        keys.dead_letters(letter.probe_slice.workspace), keys.dead_letter(letter.provider, letter.message_id)
    ).delete()


def _query(
    workspace: str, provider: str | None, after: str | None = None, page_size: int | None = None
) -> Iterator[DeadLetterItem]:
    prefix = keys.dead_letter(provider, "") if provider else ""
    condition = DeadLetterItem.sk.between(f"{after or prefix}\0" if after else prefix or "\0", f"{prefix}\uffff")
    return DeadLetterItem.query(keys.dead_letters(workspace), condition, page_size=page_size)
