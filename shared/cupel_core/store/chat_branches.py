"""The branches of a chat, with their pages, exchanges and variants of messages.

A change of a branch is one transaction, on condition that the branch and the exchange are as they were read. Long texts
are objects, written before the item that names them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.branches import ChatBranch, Fork, MessageSide, Pointer, PointerPage, Pointers
from cupel_core.domain.chats.messages import Exchange, Variant, VariantKind, VariantStatus
from cupel_core.store import chats, idempotency_keys, keys
from cupel_core.store.chat_texts import read_json, read_text, write_json, write_text
from cupel_core.store.table import Item, conditional_transaction

_BRANCH, _PAGE, _EXCHANGE, _MESSAGE = "branch#", "page#", "exchange#", "message#"


class BranchItem(Item):
    body = JSONAttribute()
    open_turn = UnicodeAttribute(attr_name="openTurn", null=True)
    revision = NumberAttribute()


class PageItem(Item):
    body = JSONAttribute()


class ExchangeItem(Item):
    body = JSONAttribute()
    revision = NumberAttribute()


class VariantItem(Item):
    body = JSONAttribute()


@dataclass(frozen=True)
class BranchChange:
    """The writes of one change of a branch. `exchange_before` is None for a new exchange."""

    before: ChatBranch
    after: ChatBranch
    page: tuple[str, Pointers] | None = None
    exchange_before: Exchange | None = None
    exchange: Exchange | None = None
    variants: tuple[Variant, ...] = ()


def add(transaction: TransactWrite, ref: ChatRef, branch: ChatBranch) -> None:
    transaction.save(_branch_item(ref, branch), condition=BranchItem.pk.does_not_exist())


def add_change(transaction: TransactWrite, ref: ChatRef, change: BranchChange, now: datetime) -> None:
    """Add a change to a transaction, which is cancelled if anything was changed meanwhile. Long texts are written at
    once."""
    began = change.exchange is not None and change.exchange_before is None
    messages = [each.content for each in change.variants if began and each.side is MessageSide.USER]
    chats.touch(transaction, ref, now, *map(chats.opens_with, messages[:1]))
    after = replace(change.after, revision=change.before.revision + 1)
    transaction.save(_branch_item(ref, after), condition=BranchItem.revision == change.before.revision)
    if change.page is not None:
        transaction.save(_page_item(ref, *change.page))
    if change.exchange is not None:
        _add_exchange(transaction, ref, change.exchange_before, change.exchange)
    for variant in change.variants:
        transaction.save(_variant_item(ref, variant), condition=VariantItem.pk.does_not_exist())


def apply(ref: ChatRef, change: BranchChange, now: datetime) -> bool:
    """Write the change. Return False if anything was changed since it was read."""
    with conditional_transaction() as transaction:
        add_change(transaction, ref, change, now)
    return transaction.is_committed


def create_fork(ref: ChatRef, parent: ChatBranch, fork: Fork, now: datetime) -> bool:
    """Create the branch. Return False if the parent was changed since it was read, or the chat has its maximum of
    branches."""
    with conditional_transaction() as transaction:
        chats.adds_branch(transaction, ref, now)
        after = replace(fork.parent, revision=parent.revision + 1)
        transaction.save(_branch_item(ref, after), condition=BranchItem.revision == parent.revision)
        add(transaction, ref, fork.child)
        if fork.page is not None:
            transaction.save(_page_item(ref, *fork.page))
        idempotency_keys.mark_applied(transaction)
    return transaction.is_committed


def delete(ref: ChatRef, branch: ChatBranch, now: datetime) -> bool:
    """Delete a branch but not its pages, which others may share. Return False if it is the active one or was
    changed."""
    with conditional_transaction() as transaction:
        chats.removes_branch(transaction, ref, now, branch.id)
        transaction.delete(
            BranchItem(keys.chat(ref), f"{_BRANCH}{branch.id}"), condition=BranchItem.revision == branch.revision
        )
    return transaction.is_committed


def get(ref: ChatRef, branch_id: str) -> ChatBranch:
    try:
        item = BranchItem.get(keys.chat(ref), f"{_BRANCH}{branch_id}", consistent_read=True)
    except BranchItem.DoesNotExist:
        raise NotFound(f"there is no branch {branch_id} in this chat") from None
    return _branch(item)


def list_branches(ref: ChatRef) -> list[ChatBranch]:
    items = BranchItem.query(keys.chat(ref), BranchItem.sk.startswith(_BRANCH), consistent_read=True)
    return sorted(map(_branch, items), key=lambda branch: (branch.created_at, branch.id))


def get_pages(ref: ChatRef, pages: Iterable[PointerPage]) -> list[Pointers]:
    names = [page.id for page in pages]
    item_keys = [(keys.chat(ref), f"{_PAGE}{name}") for name in dict.fromkeys(names)]
    pointers = {
        item.sk.removeprefix(_PAGE): tuple(map(Pointer.from_json, item.body))
        for item in PageItem.batch_get(item_keys, consistent_read=True)
    }
    return [pointers[name] for name in names]


def get_page(ref: ChatRef, page: PointerPage | None) -> Pointers:
    """Return the pointers of a page, or none without a page."""
    return get_pages(ref, [page])[0] if page is not None else ()


def get_exchange(ref: ChatRef, exchange_id: str) -> Exchange:
    exchange = get_exchanges(ref, [exchange_id]).get(exchange_id)
    if exchange is None:
        raise NotFound(f"there is no exchange {exchange_id} in this chat")
    return exchange


def get_exchanges(ref: ChatRef, exchange_ids: Iterable[str]) -> dict[str, Exchange]:
    item_keys = [(keys.chat(ref), f"{_EXCHANGE}{each}") for each in dict.fromkeys(exchange_ids)]
    return {each.id: each for each in map(_exchange, ExchangeItem.batch_get(item_keys, consistent_read=True))}


type VariantKey = tuple[str, MessageSide, int]


def get_variants(ref: ChatRef, variant_keys: Iterable[VariantKey]) -> dict[VariantKey, Variant]:
    item_keys = [(keys.chat(ref), _variant_key(*each)) for each in dict.fromkeys(variant_keys)]
    variants = map(_variant, VariantItem.batch_get(item_keys, consistent_read=True))
    return {(each.exchange_id, each.side, each.number): each for each in variants}


def _add_exchange(transaction: TransactWrite, ref: ChatRef, before: Exchange | None, after: Exchange) -> None:
    body = {
        "position": after.position,
        "user": list(after.user),
        "answer": list(after.answer),
        "lastAnswer": after.last_answer,
    }
    revision = 1 if before is None else before.revision + 1
    item = ExchangeItem(keys.chat(ref), f"{_EXCHANGE}{after.id}", body=body, revision=revision)
    unchanged = ExchangeItem.pk.does_not_exist() if before is None else ExchangeItem.revision == before.revision
    transaction.save(item, condition=unchanged)


def _branch_item(ref: ChatRef, branch: ChatBranch) -> BranchItem:
    body = {
        "name": branch.name,
        "createdAt": to_iso(branch.created_at),
        "parentId": branch.parent_id,
        "forkedAfter": branch.forked_after,
        "length": branch.length,
        "pages": [list(page) for page in branch.pages],
        "sessionSalt": branch.session_salt,
    }
    return BranchItem(
        keys.chat(ref),
        f"{_BRANCH}{branch.id}",
        body=body,
        open_turn=branch.open_turn,
        revision=branch.revision,
    )


def _branch(item: BranchItem) -> ChatBranch:
    body = item.body
    return ChatBranch(
        id=item.sk.removeprefix(_BRANCH),
        name=body["name"],
        created_at=from_iso(body["createdAt"]),
        parent_id=body["parentId"],
        forked_after=body["forkedAfter"],
        length=body["length"],
        pages=tuple(PointerPage(*page) for page in body["pages"]),
        open_turn=item.open_turn,
        session_salt=body["sessionSalt"],
        revision=int(item.revision),
    )


def _page_item(ref: ChatRef, page_id: str, pointers: Sequence[Pointer]) -> PageItem:
    return PageItem(keys.chat(ref), f"{_PAGE}{page_id}", body=[pointer.to_json() for pointer in pointers])


def _exchange(item: ExchangeItem) -> Exchange:
    body = item.body
    return Exchange(
        item.sk.removeprefix(_EXCHANGE),
        body["position"],
        tuple(body["user"]),
        tuple(body["answer"]),
        body["lastAnswer"],
        int(item.revision),
    )


def _variant_key(exchange_id: str, side: MessageSide, number: int) -> str:
    return f"{_MESSAGE}{exchange_id}#{side}#{number:04d}"


def _variant_item(ref: ChatRef, variant: Variant) -> VariantItem:
    body = {
        "kind": variant.kind,
        "content": write_text(ref, variant.content),
        "createdAt": to_iso(variant.created_at),
        "branchId": variant.branch_id,
        "turnId": variant.turn_id,
        "basedOn": variant.based_on,
        "details": write_json(ref, dict(variant.details)),
        **({} if variant.status is VariantStatus.DONE else {"status": variant.status}),
    }
    key = _variant_key(variant.exchange_id, variant.side, variant.number)
    return VariantItem(keys.chat(ref), key, body=body)


def _variant(item: VariantItem) -> Variant:
    _, exchange_id, side, number = item.sk.split("#")
    body = item.body
    return Variant(
        exchange_id,
        MessageSide(side),
        int(number),
        VariantKind(body["kind"]),
        read_text(body["content"]),
        from_iso(body["createdAt"]),
        body["branchId"],
        body["turnId"],
        body["basedOn"],
        read_json(body["details"]),
        VariantStatus(body.get("status", VariantStatus.DONE)),
    )
