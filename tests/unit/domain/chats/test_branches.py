"""Branches share pages: whatever happens to one, the others keep what they had."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.chats.branches import (
    MAX_SESSIONS,
    POINTERS_PER_PAGE,
    ChatBranch,
    MessageSide,
    Pointer,
    PointerPage,
    Pointers,
    fork,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Chat:
    """Branches with their stored pages, beside a model that copies everything."""

    def __init__(self) -> None:
        self.branches = [ChatBranch("b0", "b0", NOW)]
        self.model: list[list[Pointer]] = [[]]
        self.pages: dict[str, Pointers] = {}
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"page{self.names}"

    def append(self, which: int) -> None:
        branch, pointer = self.branches[which], Pointer(f"x{self.name()}")
        page = self.pages[branch.last_page.id] if branch.last_page else ()
        changed = branch.appending(page, pointer, self.name())
        self.pages[changed.page_id] = changed.pointers
        self.branches[which] = changed.branch
        self.model[which].append(pointer)

    def hide(self, which: int, position: int) -> None:
        branch = self.branches[which]
        if not branch.length:
            return
        position %= branch.length
        pointer = self.model[which][position].hiding(MessageSide.USER, is_hidden=True)
        page = self.pages[branch.page_of(position).id]
        changed = branch.replacing(position, page, pointer, self.name())
        self.pages[changed.page_id] = changed.pointers
        self.branches[which] = changed.branch
        self.model[which][position] = pointer

    def fork(self, which: int, length: int, *, include_answer: bool) -> None:
        parent = self.branches[which]
        length %= parent.length + 1
        if not length and not include_answer:
            return
        page = self.pages[parent.page_of(length - 1).id] if length else ()

        def child(size: int, pages: tuple[PointerPage, ...]) -> ChatBranch:
            return ChatBranch(f"b{len(self.branches)}", "", NOW, parent.id, length=size, pages=pages)

        made = fork(parent, length, page, child, self.name(), include_answer=include_answer, sessions_before={})
        if made.page is not None:
            self.pages[made.page[0]] = made.page[1]
        self.branches[which] = made.parent
        self.branches.append(made.child)
        self.model.append(self.model[which][:length])

    def read(self, which: int) -> list[Pointer]:
        return [pointer for page in self.branches[which].pages for pointer in self.pages[page.id]]


STEPS = st.lists(
    st.tuples(st.sampled_from(["append"] * 3 + ["hide", "fork"]), st.integers(0, 9), st.integers(0, 200)), max_size=40
)


@given(STEPS, st.integers(0, 2 * POINTERS_PER_PAGE + 1))
def test_no_change_of_a_branch_shows_in_another(steps: list[tuple[str, int, int]], length: int) -> None:
    chat = Chat()
    for _ in range(length):
        chat.append(0)
    for what, which, number in steps:
        which %= len(chat.branches)
        match what:
            case "append":
                chat.append(which)
            case "hide":
                chat.hide(which, number)
            case "fork":
                chat.fork(which, number, include_answer=True)
    assert [chat.read(which) for which in range(len(chat.branches))] == chat.model
    assert [branch.length for branch in chat.branches] == [len(line) for line in chat.model]


def test_a_fork_of_a_long_branch_writes_one_page_at_most() -> None:
    chat = Chat()
    for _ in range(2_000):
        chat.append(0)
    pages = len(chat.pages)
    chat.fork(0, 1_999, include_answer=True)
    chat.fork(0, 2_000, include_answer=True)
    assert len(chat.pages) == pages + 1


def test_a_fork_may_leave_out_the_last_answer_alone() -> None:
    first = Pointer("x1", answer=1, sessions={"s": "t1"})
    last = Pointer("x2", answer=2, hidden=frozenset(MessageSide), turn_id="t", sessions={"s": "t"})
    parent = ChatBranch("b", "b", NOW, length=2, pages=(PointerPage("p", True),))

    def child(length: int, pages: tuple[PointerPage, ...]) -> ChatBranch:
        return ChatBranch("c", "c", NOW, length=length, pages=pages)

    made = fork(parent, 2, (first, last), child, "q", include_answer=False, sessions_before=first.sessions)
    left = Pointer("x2", hidden=frozenset({MessageSide.USER}), sessions={"s": "t1"})
    assert made.page == ("q", (first, left))
    assert not made.parent.pages[0].is_own


@given(
    st.builds(
        Pointer,
        st.text(),
        st.integers(1),
        st.none() | st.integers(1),
        st.frozensets(st.sampled_from(MessageSide)),
        st.frozensets(st.sampled_from(MessageSide)),
        st.none() | st.text(),
        st.dictionaries(st.text(), st.text()),
    )
)
def test_pointers_are_read_as_they_were_written(pointer: Pointer) -> None:
    assert Pointer.from_json(pointer.to_json()) == pointer


def test_a_pointer_names_the_turns_of_the_last_few_sessions() -> None:
    pointer = Pointer("x1")
    for number in range(MAX_SESSIONS + 2):
        pointer = pointer.storing(f"s{number}", f"t{number}")
    pointer = pointer.storing("s3", "t9")
    others = {f"s{number}": f"t{number}" for number in (2, *range(4, MAX_SESSIONS + 2))}
    assert list(pointer.sessions.items()) == [*others.items(), ("s3", "t9")]
