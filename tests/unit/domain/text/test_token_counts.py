"""How many tokens a text is estimated to have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.text.token_counts import estimated_tokens, is_latin


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0.0),
        ("word" * 100, 100.0),
        ("é" * 10, 8.0),
        ("漢字" * 10, 13.0),
        ("한글" * 10, 13.0),
        ("кот" * 10, 9.6),
        ("🙂" * 3, 6.0),
        ("abcd é", 2.05),
    ],
)
def test_each_script_has_a_rate_of_its_own(text: str, tokens: float) -> None:
    assert estimated_tokens(text) == pytest.approx(tokens)


@given(st.text(), st.text())
def test_the_tokens_of_joined_texts_are_the_sum_of_theirs(first: str, second: str) -> None:
    assert estimated_tokens(first + second) == pytest.approx(estimated_tokens(first) + estimated_tokens(second))


@given(st.text())
def test_a_text_has_at_most_two_tokens_per_character(text: str) -> None:
    assert 0 <= estimated_tokens(text) <= 2 * len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", True), ("Où est-il né ?", True), ("привет", False), ("日本語です", False), ("", True)],
)
def test_latin_script_is_recognized(text: str, expected: bool) -> None:
    assert is_latin(text) is expected


def test_a_few_foreign_words_do_not_count() -> None:
    assert is_latin("The word is 漢字, which means characters. " * 3)
