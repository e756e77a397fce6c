from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.ids import new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.base.paging import Page, decode_index, encode_cursor
from cupel_core.chats.branches import change, check_is_free
from cupel_core.domain.chats.branches import POINTERS_PER_PAGE, ChatBranch, MessageSide, Pointer
from cupel_core.domain.chats.chats import MAX_VARIANTS
from cupel_core.domain.chats.messages import (
    Exchange,
    MessageRef,
    ShownExchange,
    ShownMessage,
    Variant,
    VariantKind,
    shown_exchange,
)
from cupel_core.store import chat_branches, chats
from cupel_core.store.chat_branches import BranchChange


class MessageChange(NamedTuple):
    """A requested change. Exactly one of the first three fields is set."""

    content: str | None = None
    """The text of an edit. It becomes a new variant, which is selected."""
    selected: int | None = None
    hidden: bool | None = None
    deleted: bool = False
    revision: int | None = None


def list_exchanges(
    workspace: str, chat_id: str, branch_id: str, included: frozenset[str], limit: int, cursor: str | None
) -> Page[ShownExchange]:
    """Return a page of a branch's exchanges, newest first. `included` may have `hidden` and `deleted`."""
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    branch = chat_branches.get(ref, branch_id)
    end = branch.length if cursor is None else min(branch.length, decode_index(cursor))
    start = max(0, end - limit)
    pointers = read_pointers(ref, branch, range(start, end))
    shown = list(reversed(show(ref, pointers, included)))
    cursors = ("", *(encode_cursor(str(position)) for position in range(end - 1, start, -1)))
    return Page(tuple(shown), encode_cursor(str(start)) if start else None, cursors[: len(shown)])


def read_pointers(ref: ChatRef, branch: ChatBranch, positions: range) -> list[Pointer]:
    """Return the pointers at consecutive positions, oldest first."""
    if not positions:
        return []
    first = positions.start // POINTERS_PER_PAGE
    pages = branch.pages[first : (positions.stop - 1) // POINTERS_PER_PAGE + 1]
    pointers = [pointer for page in chat_branches.get_pages(ref, pages) for pointer in page]
    offset = first * POINTERS_PER_PAGE
    return pointers[positions.start - offset : positions.stop - offset]


def show(ref: ChatRef, pointers: Iterable[Pointer], included: frozenset[str]) -> list[ShownExchange]:
    pointers = list(pointers)
    exchanges = chat_branches.get_exchanges(ref, [pointer.exchange_id for pointer in pointers])
    variant_keys = [
        (pointer.exchange_id, side, number)
        for pointer in pointers
        for side in MessageSide
        if (number := pointer.selected(side)) is not None
    ]
    variants = chat_branches.get_variants(ref, variant_keys)
    return [
        shown_exchange(
            pointer,
            exchanges[pointer.exchange_id],
            {key[1:]: variant for key, variant in variants.items() if key[0] == pointer.exchange_id},
            included,
        )
        for pointer in pointers
    ]


def list_variants(workspace: str, chat_id: str, message_id: str, limit: int, cursor: str | None) -> Page[Variant]:
    """Return a page of the variants of a message, in the order in which they were made."""
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    message = _parsed(message_id)
    exchange = chat_branches.get_exchange(ref, message.exchange_id)
    numbers = exchange.numbers(message.side)
    if not numbers:
        raise _unknown(message_id)
    start = decode_index(cursor)
    variant_keys = [(exchange.id, message.side, number) for number in numbers[start : start + limit]]
    variants = chat_branches.get_variants(ref, variant_keys)
    cursors = ("", *(encode_cursor(str(index)) for index in range(start + 1, start + len(variant_keys))))
    more = encode_cursor(str(start + limit)) if start + limit < len(numbers) else None
    return Page(tuple(variants[key] for key in variant_keys), more, cursors[: len(variant_keys)])


def update_message(
    workspace: str, chat_id: str, branch_id: str, message_id: str, requested: MessageChange, now: datetime
) -> ShownMessage:
    """Change a message on a branch. Raise NotFound if the branch does not have it. Raise Conflict while a turn is in
    progress on it, for another revision, and after too many concurrent changes. Raise Invalid for an unknown variant,
    or too many."""
    ref, message = ChatRef(workspace, chat_id), _parsed(message_id)
    changed: list[tuple[Pointer, Exchange]] = []

    def make(branch: ChatBranch) -> BranchChange | None:
        if requested.revision is not None and requested.revision != branch.revision:
            raise Conflict(
                f"the branch has revision {branch.revision}, not {requested.revision}; read it and try again"
            )
        check_is_free(branch)
        exchange, pointers, pointer = _locate(ref, branch, message)
        after, variants = _changed(pointer, exchange, message.side, requested, branch, now)
        pointer = _repointed(pointer, message.side, requested, variants)
        changed[:] = [(pointer, after)]
        written = branch.replacing(exchange.position, pointers, pointer, new_short_id())
        return BranchChange(
            branch,
            written.branch,
            (written.page_id, written.pointers),
            exchange if variants else None,
            after if variants else None,
            variants,
        )

    change(ref, branch_id, make, now)
    pointer, _ = changed[0]
    shown = show(ref, [pointer], frozenset({"hidden", "deleted"}))[0]
    changed_message = shown.user if message.side is MessageSide.USER else shown.answer
    if changed_message is None:
        raise _unknown(message_id)
    return changed_message


def _locate(ref: ChatRef, branch: ChatBranch, message: MessageRef) -> tuple[Exchange, tuple[Pointer, ...], Pointer]:
    exchange = chat_branches.get_exchanges(ref, [message.exchange_id]).get(message.exchange_id)
    if exchange is None or exchange.position >= branch.length:
        raise _unknown(f"{message.exchange_id}.{message.side}")
    pointers = chat_branches.get_page(ref, branch.page_of(exchange.position))
    pointer = pointers[exchange.position % POINTERS_PER_PAGE]
    is_there = pointer.exchange_id == exchange.id and pointer.selected(message.side) is not None
    if not is_there or message.side in pointer.deleted:
        raise _unknown(f"{message.exchange_id}.{message.side}")
    return exchange, pointers, pointer


def _changed(
    pointer: Pointer, exchange: Exchange, side: MessageSide, requested: MessageChange, branch: ChatBranch, now: datetime
) -> tuple[Exchange, tuple[Variant, ...]]:
    if requested.selected is not None and requested.selected not in exchange.numbers(side):
        numbers = ", ".join(map(str, exchange.numbers(side)))
        raise Invalid.field("selected", f"must be one of the variants {numbers}")
    if requested.content is None:
        return exchange, ()
    after, number = with_variant(exchange, side, "content")
    variant = Variant(
        exchange.id,
        side,
        number,
        VariantKind.EDIT,
        requested.content,
        now,
        branch.id,
        based_on=pointer.selected(side),
    )
    return after, (variant,)


def with_variant(exchange: Exchange, side: MessageSide, field: str) -> tuple[Exchange, int]:
    """Return the exchange with the number of a new variant. Raise Invalid if it has its maximum of variants."""
    numbers = exchange.numbers(side)
    if len(numbers) >= MAX_VARIANTS:
        raise Invalid.field(
            field, f"a message has at most {MAX_VARIANTS} variants: fork the branch, or send another message"
        )
    number = exchange.next_number(side)
    if side is MessageSide.USER:
        return replace(exchange, user=(*numbers, number)), number
    return replace(exchange, answer=(*numbers, number), last_answer=number), number


def _repointed(pointer: Pointer, side: MessageSide, requested: MessageChange, variants: tuple[Variant, ...]) -> Pointer:
    changes: list[Callable[[Pointer], Pointer]] = []
    if variants:
        changes.append(lambda each: each.selecting(side, variants[0].number))
    if (selected := requested.selected) is not None:
        changes.append(lambda each: each.selecting(side, selected))
    if (hidden := requested.hidden) is not None:
        changes.append(lambda each: each.hiding(side, is_hidden=hidden))
    if requested.deleted:
        changes.append(lambda each: each.deleting(side))
    for apply in changes:
        pointer = apply(pointer)
    return pointer


def _parsed(message_id: str) -> MessageRef:
    message = MessageRef.parse(message_id)
    if message is None:
        raise _unknown(message_id)
    return message


def _unknown(message_id: str) -> NotFound:
    return NotFound(f"there is no message {message_id} here")
