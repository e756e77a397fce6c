from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.errors import Conflict, Invalid, named_in_body
from cupel_core.base.ids import new_id, new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.branches import POINTERS_PER_PAGE, ChatBranch, PointerPage, Pointers, fork
from cupel_core.domain.chats.chats import MAX_BRANCHES
from cupel_core.store import chat_branches, chats
from cupel_core.store.chat_branches import BranchChange

MAX_ATTEMPTS = 8
"""A change is tried at most this many times, because other requests may change the branch first."""


class ForkRequest(NamedTuple):
    name: str | None
    from_branch_id: str | None
    after_exchange_id: str | None
    """The last exchange that the fork has. None stands for the last one of the branch."""
    include_answer: bool
    """True if the branch has the answers of that exchange."""
    carries_artifacts: bool


def list_branches(workspace: str, chat_id: str) -> list[ChatBranch]:
    """Return the branches, oldest first. There are 200 at most."""
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    return chat_branches.list_branches(ref)


def get(workspace: str, chat_id: str, branch_id: str) -> ChatBranch:
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    return chat_branches.get(ref, branch_id)


def create(workspace: str, chat_id: str, request: ForkRequest, now: datetime) -> ChatBranch:
    """Fork a branch. It has the exchanges of its parent up to one. Raise Invalid for an exchange that the parent does
    not have, and when the chat has its maximum of branches."""
    ref = ChatRef(workspace, chat_id)
    child_id = new_id("br")
    for _ in range(MAX_ATTEMPTS):
        chat = chats.get(ref)
        if chat.branch_count >= MAX_BRANCHES:
            raise Invalid.field("fromBranchId", f"a chat has at most {MAX_BRANCHES} branches: delete one first")
        parent = _parent(ref, request.from_branch_id or chat.active_branch_id)
        length = parent.length
        if request.after_exchange_id is not None:
            length = _position(ref, parent, request.after_exchange_id) + 1
        if not (request.include_answer or length):
            raise Invalid.field("includeAnswer", "the branch has no exchange whose answer could be left out")
        cut_page = chat_branches.get_page(ref, parent.page_of(length - 1)) if length else ()
        made = fork(
            parent,
            length,
            cut_page,
            _child(child_id, parent, request, cut_page, now),
            new_short_id(),
            include_answer=request.include_answer,
            sessions_before=sessions_before(ref, parent, length - 1),
        )
        if chat_branches.create_fork(ref, parent, made, now):
            return made.child
    raise changed_too_often()


def rename(workspace: str, chat_id: str, branch_id: str, name: str, now: datetime) -> ChatBranch:
    ref = ChatRef(workspace, chat_id)
    return change(ref, branch_id, lambda branch: BranchChange(branch, replace(branch, name=name)), now)


def reset_session(workspace: str, chat_id: str, branch_id: str, now: datetime) -> ChatBranch:
    """Make later turns of the branch begin without artifacts. Raise Conflict while a turn is in progress on it."""

    def make(branch: ChatBranch) -> BranchChange:
        check_is_free(branch)
        return BranchChange(branch, replace(branch, session_salt=new_short_id()))

    return change(ChatRef(workspace, chat_id), branch_id, make, now)


def delete(workspace: str, chat_id: str, branch_id: str, now: datetime) -> None:
    """Delete a branch. Raise Conflict for the active one, and while a turn is in progress on it."""
    ref = ChatRef(workspace, chat_id)
    for _ in range(MAX_ATTEMPTS):
        chat, branch = chats.get(ref), chat_branches.get(ref, branch_id)
        if chat.active_branch_id == branch_id:
            raise Conflict("this is the active branch of its chat; make another one active first")
        check_is_free(branch)
        if chat_branches.delete(ref, branch, now):
            return
    raise changed_too_often()


def change(
    ref: ChatRef, branch_id: str, make: Callable[[ChatBranch], BranchChange | None], now: datetime
) -> ChatBranch:
    """Apply a change to the current branch. `make` returns None if there is nothing to change."""
    for _ in range(MAX_ATTEMPTS):
        chats.get(ref)
        branch = chat_branches.get(ref, branch_id)
        changed = make(branch)
        if changed is None:
            return branch
        if chat_branches.apply(ref, changed, now):
            return replace(changed.after, revision=branch.revision + 1)
    raise changed_too_often()


def check_is_free(branch: ChatBranch) -> None:
    if branch.open_turn is not None:
        raise Conflict(f"turn {branch.open_turn} is in progress on this branch; wait for its end, or abort it")


def changed_too_often() -> Conflict:
    return Conflict("this branch is being changed by other requests; read it and try again")


def sessions_before(ref: ChatRef, branch: ChatBranch, position: int) -> Mapping[str, str]:
    """Return, by profile session, the turn that stored the artifacts with which the exchange at a position begins."""
    if position <= 0:
        return {}
    page = chat_branches.get_page(ref, branch.page_of(position - 1))
    return page[(position - 1) % POINTERS_PER_PAGE].sessions


def _parent(ref: ChatRef, branch_id: str) -> ChatBranch:
    with named_in_body("fromBranchId"):
        return chat_branches.get(ref, branch_id)


def _position(ref: ChatRef, branch: ChatBranch, exchange_id: str) -> int:
    exchange = chat_branches.get_exchanges(ref, [exchange_id]).get(exchange_id)
    if exchange is not None and exchange.position < branch.length:
        page = chat_branches.get_page(ref, branch.page_of(exchange.position))
        if any(pointer.exchange_id == exchange_id for pointer in page):
            return exchange.position
    raise Invalid.field("afterExchangeId", f"branch {branch.id} has no exchange {exchange_id}")


def _child(
    child_id: str, parent: ChatBranch, request: ForkRequest, cut_page: Pointers, now: datetime
) -> Callable[[int, tuple[PointerPage, ...]], ChatBranch]:
    """Return a function that makes the fork. `cut_page` has the pointers of the last exchange's page."""
    salt = parent.session_salt if request.carries_artifacts else new_short_id()

    def make(length: int, pages: tuple[PointerPage, ...]) -> ChatBranch:
        return ChatBranch(
            id=child_id,
            name=request.name or child_id,
            created_at=now,
            parent_id=parent.id,
            forked_after=cut_page[(length - 1) % POINTERS_PER_PAGE].exchange_id if length else None,
            length=length,
            pages=pages,
            session_salt=salt,
        )

    return make
