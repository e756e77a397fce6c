"""Chats. All items of one are in its partition, so erasing a chat is erasing its partition and its objects.

A chat expires one retention period after its last change, with the period that is configured now; a chat of the
playground after a week, if that is sooner. Each chat has an entry in the list of erasures, which says when the sweeper
looks at it. It has one even without a retention period.
"""

from datetime import datetime, timedelta

from pynamodb.attributes import BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso, utc_now
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.chats.chats import MAX_BRANCHES, Chat, ChatSettings, opening_of
from cupel_core.domain.codec import decode, encode
from cupel_core.store import erasures, keys, listing
from cupel_core.store.chat_texts import read_settings, write_json
from cupel_core.store.erasures import Erasure, ErasureItem, ErasureKind
from cupel_core.store.listing import list_newest
from cupel_core.store.settings import settings
from cupel_core.store.table import CreationIndex, Item, updated

_SORT_KEY = "chat"
_NEVER = timedelta(days=36_500)
"""Without a retention period, the entry is due this far in the future. It is found if a period is set later."""


PLAYGROUND_RETENTION = timedelta(days=7)


class ChatItem(Item):
    creation_index = CreationIndex()
    gsi1pk = UnicodeAttribute()
    gsi1sk = UnicodeAttribute()
    body = JSONAttribute()
    active_branch_id = UnicodeAttribute(attr_name="activeBranchId")
    branch_count = NumberAttribute(attr_name="branchCount")
    created_by = UnicodeAttribute(attr_name="createdBy")
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    deleted_at = UnicodeAttribute(attr_name="deletedAt", null=True)
    revision = NumberAttribute()
    opening = UnicodeAttribute(null=True)
    playground = BooleanAttribute(null=True)


def expiry(updated_at: datetime, *, playground: bool) -> datetime | None:
    retention = _retention(playground=playground)
    return updated_at + retention if retention is not None else None


def _retention(*, playground: bool) -> timedelta | None:
    retention = settings().retention
    if not playground:
        return retention
    return min(retention, PLAYGROUND_RETENTION) if retention is not None else PLAYGROUND_RETENTION


def expired_chat(chat: Chat) -> Erasure:
    due = expiry(chat.updated_at, playground=chat.playground) or chat.updated_at + _NEVER
    return Erasure(RunRef(chat.workspace, chat.id), ErasureKind.EXPIRED_CHAT, due)


def add(transaction: TransactWrite, chat: Chat) -> None:
    """Create a chat as a part of a transaction, with its entry in the list of erasures."""
    transaction.save(_to_item(chat), condition=ChatItem.pk.does_not_exist())
    transaction.save(ErasureItem.for_erasure(expired_chat(chat)))


def touch(
    transaction: TransactWrite, ref: ChatRef, now: datetime, *actions: Action, condition: Condition | None = None
) -> None:
    """Record a change of the chat as a part of a transaction, which is cancelled if the chat was deleted."""
    present = ChatItem.pk.exists() & ChatItem.deleted_at.does_not_exist()
    noted = [ChatItem.updated_at.set(to_iso(now)), *actions]
    transaction.update(_key(ref), noted, present if condition is None else present & condition)


def opens_with(message: str) -> Action:
    """Return an action for `touch` that stores the beginning of the chat's first message."""
    return ChatItem.opening.set(ChatItem.opening | opening_of(message))


def adds_branch(transaction: TransactWrite, ref: ChatRef, now: datetime) -> None:
    """Count a new branch. The transaction is cancelled if the chat has its maximum of branches."""
    touch(transaction, ref, now, ChatItem.branch_count.add(1), condition=ChatItem.branch_count < MAX_BRANCHES)


def removes_branch(transaction: TransactWrite, ref: ChatRef, now: datetime, branch_id: str) -> None:
    """Remove a branch. The transaction is cancelled if it is the active one, which a concurrent request may have
    chosen."""
    actions = ChatItem.branch_count.add(-1), ChatItem.revision.add(1)
    touch(transaction, ref, now, *actions, condition=ChatItem.active_branch_id != branch_id)


def find(ref: ChatRef) -> Chat | None:
    """Return the chat even if it is deleted or expired."""
    try:
        return _from_item(ref.workspace, ChatItem.get(keys.chat(ref), _SORT_KEY, consistent_read=True))
    except ChatItem.DoesNotExist:
        return None


def get(ref: ChatRef) -> Chat:
    """Return the chat. Raise NotFound if there is none, or it is deleted or expired."""
    try:
        item = ChatItem.get(keys.chat(ref), _SORT_KEY, consistent_read=True)
    except ChatItem.DoesNotExist:
        item = None
    if item is None or item.deleted_at is not None or _has_expired(item):
        raise NotFound(f"there is no chat {ref.chat_id}")
    return _from_item(ref.workspace, item)


def update(before: Chat, after: Chat, now: datetime) -> Chat:
    """Replace the settings and the active branch. Raise Conflict if they were changed since they were read."""
    ref = ChatRef(before.workspace, before.id)
    actions: list[Action] = [
        ChatItem.body.set(write_json(ref, encode(after.settings))),
        ChatItem.active_branch_id.set(after.active_branch_id),
        ChatItem.revision.set(before.revision + 1),
        ChatItem.updated_at.set(to_iso(now)),
    ]
    unchanged = (ChatItem.revision == before.revision) & ChatItem.deleted_at.does_not_exist()
    if not updated(_key(ref), actions, unchanged):
        get(ref)
        raise Conflict("this chat was changed at the same time; read it and try again")
    return get(ref)


def delete(ref: ChatRef, now: datetime) -> bool:
    """Hide a chat. Return False if another request has hidden it."""
    actions = [
        ChatItem.deleted_at.set(to_iso(now)),
        ChatItem.gsi1pk.set(keys.creation_list(ref.workspace, "chats", deleted=True)),
    ]
    return updated(_key(ref), actions, ChatItem.pk.exists() & ChatItem.deleted_at.does_not_exist())


def list_chats(workspace: str, limit: int, cursor: str | None, *, playground: bool = False) -> Page[Chat]:
    """List the chats of the playground, or all others."""
    condition = ChatItem.playground == True if playground else ChatItem.playground.does_not_exist()  # noqa: E712
    if (retention := _retention(playground=playground)) is not None:
        condition &= ChatItem.updated_at > to_iso(utc_now() - retention)
    entries = list_newest(ChatItem, keys.creation_list(workspace, "chats"), limit, cursor, condition=condition)
    return fill_page((entry.map(lambda item: _from_item(workspace, item)) for entry in entries), limit)


def list_ids(workspace: str) -> list[str]:
    lists = [keys.creation_list(workspace, "chats", deleted=deleted) for deleted in (False, True)]
    return list(listing.list_ids(ChatItem, *lists))


def request_erasure(ref: ChatRef, due: datetime) -> None:
    """Enter a deleted chat in the list of erasures."""
    erasures.request(Erasure(RunRef(*ref), ErasureKind.CHAT, due))


def _key(ref: ChatRef) -> ChatItem:
    return ChatItem(keys.chat(ref), _SORT_KEY)


def _has_expired(item: ChatItem) -> bool:
    expires_at = expiry(from_iso(item.updated_at), playground=bool(item.playground))
    return expires_at is not None and expires_at <= utc_now()


def _to_item(chat: Chat) -> ChatItem:
    ref = ChatRef(chat.workspace, chat.id)
    return ChatItem(
        keys.chat(ref),
        _SORT_KEY,
        gsi1pk=keys.creation_list(chat.workspace, "chats"),
        gsi1sk=f"{to_iso(chat.created_at)}#{chat.id}",
        body=write_json(ref, encode(chat.settings)),
        active_branch_id=chat.active_branch_id,
        branch_count=chat.branch_count,
        created_by=chat.created_by,
        created_at=to_iso(chat.created_at),
        updated_at=to_iso(chat.updated_at),
        revision=chat.revision,
        playground=chat.playground or None,
    )


def _from_item(workspace: str, item: ChatItem) -> Chat:
    updated_at, playground = from_iso(item.updated_at), bool(item.playground)
    return Chat(
        workspace=workspace,
        id=item.pk.rpartition("#")[2],
        settings=decode(ChatSettings, read_settings(item.body)),
        active_branch_id=item.active_branch_id,
        created_by=item.created_by,
        created_at=from_iso(item.created_at),
        updated_at=updated_at,
        branch_count=int(item.branch_count),
        expires_at=expiry(updated_at, playground=playground),
        revision=int(item.revision),
        opening=item.opening,
        playground=playground,
    )
