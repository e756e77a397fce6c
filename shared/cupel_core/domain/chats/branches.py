"""Stores branches, which are lines of exchanges, as pages of pointers.

A fork shares the pages of its parent. A branch that changes a shared page writes a copy of its own, so a branch costs
one item and at most one page, however long it is, and no change shows in another branch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from cupel_core.base.deferred import dataclass

POINTERS_PER_PAGE = 50
MAX_SESSIONS = 8
"""A pointer has at most this many sessions, so that talking with ever other profiles cannot make a page too large."""


class MessageSide(StrEnum):
    USER = "user"
    ANSWER = "answer"


@dataclass(frozen=True)
class Pointer:
    """Points to an exchange in a branch, with the variant of each side that the branch has selected."""

    exchange_id: str
    user: int = 1
    answer: int | None = None
    hidden: frozenset[MessageSide] = frozenset()
    deleted: frozenset[MessageSide] = frozenset()
    turn_id: str | None = None
    sessions: Mapping[str, str] = field(default_factory=dict)
    """For each profile session, this is the turn that last stored its artifacts here or earlier. Each pointer copies
    those of the one before, so that one pointer has them all."""

    def selected(self, side: MessageSide) -> int | None:
        return self.user if side is MessageSide.USER else self.answer

    def selecting(self, side: MessageSide, number: int) -> Self:
        return replace(self, user=number) if side is MessageSide.USER else replace(self, answer=number)

    def hiding(self, side: MessageSide, *, is_hidden: bool) -> Self:
        return replace(self, hidden=self.hidden | {side} if is_hidden else self.hidden - {side})

    def deleting(self, side: MessageSide) -> Self:
        return replace(self, deleted=self.deleted | {side})

    def shows(self, side: MessageSide) -> bool:
        return side not in self.hidden and side not in self.deleted and self.selected(side) is not None

    def storing(self, session: str, turn_id: str) -> Self:
        """Return the pointer with the artifacts of a profile session; those of the last few sessions remain."""
        others = [each for each in self.sessions.items() if each[0] != session]
        return replace(self, sessions=dict([*others[1 - MAX_SESSIONS :], (session, turn_id)]))

    def to_json(self) -> list[Any]:
        hidden, deleted = sorted(self.hidden), sorted(self.deleted)
        return [self.exchange_id, self.user, self.answer, hidden, deleted, self.turn_id, dict(self.sessions)]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Self:
        exchange_id, user, answer, hidden, deleted, turn_id, sessions = data
        return cls(
            exchange_id,
            int(user),
            None if answer is None else int(answer),
            frozenset(map(MessageSide, hidden)),
            frozenset(map(MessageSide, deleted)),
            turn_id,
            sessions,
        )


class PointerPage(NamedTuple):
    """Describes a page of a branch; only a page that no other branch has may be changed in place."""

    id: str
    is_own: bool


type Pointers = tuple[Pointer, ...]


class ChangedBranch(NamedTuple):
    branch: "ChatBranch"
    page_id: str
    pointers: Pointers


@dataclass(frozen=True)
class ChatBranch:
    id: str
    name: str
    created_at: datetime
    parent_id: str | None = None
    forked_after: str | None = None
    """The last exchange that the branch has in common with its parent; None if there is none."""
    length: int = 0
    pages: tuple[PointerPage, ...] = ()
    open_turn: str | None = None
    """The turn in progress, during which the branch does not change."""
    session_salt: str = ""
    """The names of profile sessions contain it, so another salt starts new sessions."""
    revision: int = 1

    def page_of(self, position: int) -> PointerPage:
        return self.pages[position // POINTERS_PER_PAGE]

    @property
    def last_page(self) -> PointerPage | None:
        """Return None if the next pointer begins a page."""
        return self.pages[-1] if self.length % POINTERS_PER_PAGE else None

    def appending(self, last_page: Pointers, pointer: Pointer, new_page_id: str) -> ChangedBranch:
        """Append the pointer; `last_page` has the pointers of the page that it goes to."""
        longer = replace(self, length=self.length + 1)
        if self.last_page is not None:
            return longer._writing(len(self.pages) - 1, (*last_page, pointer), new_page_id)
        return ChangedBranch(
            replace(longer, pages=(*self.pages, PointerPage(new_page_id, True))), new_page_id, (pointer,)
        )

    def replacing(self, position: int, page: Pointers, pointer: Pointer, new_page_id: str) -> ChangedBranch:
        index = position % POINTERS_PER_PAGE
        pointers = (*page[:index], pointer, *page[index + 1 :])
        return self._writing(position // POINTERS_PER_PAGE, pointers, new_page_id)

    def _writing(self, number: int, pointers: Pointers, new_page_id: str) -> ChangedBranch:
        page_id = self.pages[number].id if self.pages[number].is_own else new_page_id
        pages = (*self.pages[:number], PointerPage(page_id, True), *self.pages[number + 1 :])
        return ChangedBranch(replace(self, pages=pages), page_id, pointers)

    def shared(self) -> Self:
        return replace(self, pages=tuple(PointerPage(page.id, False) for page in self.pages))


class Fork(NamedTuple):
    parent: ChatBranch
    child: ChatBranch
    page: tuple[str, Pointers] | None


def fork(
    parent: ChatBranch,
    length: int,
    cut_page: Pointers,
    child: Callable[[int, tuple[PointerPage, ...]], ChatBranch],
    new_page_id: str,
    *,
    include_answer: bool,
    sessions_before: Mapping[str, str],
) -> Fork:
    """Return a branch with the first `length` exchanges of its parent, the last of them perhaps without its answer.

    `cut_page` has the pointers of the page of that last one, `child` makes the branch from its length and pages, and
    `sessions_before` are those of the exchange before the last.
    """
    full, rest = divmod(length, POINTERS_PER_PAGE)
    if include_answer and not rest:
        return Fork(parent.shared(), child(length, parent.shared().pages[:full]), None)
    number = (length - 1) // POINTERS_PER_PAGE
    pointers = cut_page[: length - number * POINTERS_PER_PAGE]
    if not include_answer:
        pointers = (*pointers[:-1], unanswered(pointers[-1], sessions_before))
    pages = (*parent.shared().pages[:number], PointerPage(new_page_id, True))
    return Fork(parent.shared(), child(length, pages), (new_page_id, pointers))


def unanswered(pointer: Pointer, sessions_before: Mapping[str, str]) -> Pointer:
    without = {MessageSide.ANSWER}
    return replace(
        pointer,
        answer=None,
        hidden=pointer.hidden - without,
        deleted=pointer.deleted - without,
        turn_id=None,
        sessions=sessions_before,
    )
