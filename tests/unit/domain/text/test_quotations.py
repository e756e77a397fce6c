"""Quotations of a conversation in a text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.text.quotations import MIN_QUOTED, quotes

SAID = "I have told nobody else\nthat my sister's name is “Żaneta”, and that she lives in Gdańsk."
WORDS = st.text("abcdefghij klm\n\"\\'ż语", min_size=80, max_size=200)


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 422: the message 'told nobody else that my sister' is not allowed",
        f"HTTP 422: {json.dumps([{'type': 'too_short', 'input': {'content': SAID}}])}",
        f"HTTP 422: {SAID.upper()}",
        f"HTTP 422: …{SAID[20:60]}…",
    ],
)
def test_what_was_said_is_found(text: str) -> None:
    assert quotes(text, ["Hello", SAID])


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 401: Incorrect API key provided.",
        "HTTP 404: The model `gpt-9` does not exist or you do not have access to it.",
        "HTTP 400: my sister",
        "",
    ],
)
def test_other_texts_quote_nothing(text: str) -> None:
    assert not quotes(text, ["", "Hello", SAID])


@given(WORDS, st.integers(0, 20))
def test_a_long_part_is_found_however_it_is_escaped(said: str, start: int) -> None:
    part = said[start:]
    letters = sum(each.isalnum() for each in part)
    if letters >= 2 * MIN_QUOTED:
        assert quotes(f"refused: {part}", [said])
        assert quotes(f"refused: {json.dumps(part)}", [said])


def test_a_conversation_of_any_length_is_compared_in_no_time() -> None:
    assert quotes("HTTP 422: something else entirely", ["x" * 10_000_000])
