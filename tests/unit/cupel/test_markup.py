"""Text of users as a part of Rich markup."""

from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from cupel.markup import escape

TEXTS = st.lists(st.sampled_from(["[", "]", "/", "\\", "a", "#", "@", " ", "bold", "名", "\n"]), max_size=8).map(
    "".join
)


@given(TEXTS, TEXTS)
def test_texts_are_shown_as_they_are_whatever_is_beside_them(one: str, other: str) -> None:
    for markup, plain in (
        (escape(one), one),
        (f"[bold]{escape(one)}[/bold] {escape(other)}", f"{one} {other}"),
        (f"{escape(one)}{escape(other)}]", f"{one}{other}]"),
    ):
        assert Text.from_markup(markup, emoji=False).plain == plain
