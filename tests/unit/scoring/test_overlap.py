"""ROUGE and BLEU against the values of their papers and of promptfoo."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.scoring.overlap import bleu, rouge_1, tokenize


def test_words_of_the_treebank() -> None:
    assert tokenize("They've said \"No.\" at 10:30, didn't cost $3.50...") == [
        *("they", "'ve", "said", '"', "no.", '"', "at", "10:30", ",", "did", "n't", "cost", "$", "3.50", "...")
    ]


@pytest.mark.parametrize(
    ("output", "reference", "value"),
    [
        ("police killed the gunman", "police kill the gunman", 0.75),  # Lin 2004, his S1 and S2 by single words
        ("the gunman kill police", "police kill the gunman", 1.0),
        ("The cat sat on the mat", "the cat sat on the mat", 1.0),
        ("the cat", "the cat sat on the mat", 0.5),
        ("", "anything", 0.0),
    ],
)
def test_rouge_is_the_f1_of_the_words_in_common(output: str, reference: str, value: float) -> None:
    assert rouge_1(output, reference) == pytest.approx(value)


def test_bleu_clips_what_is_repeated() -> None:
    # Papineni 2002, example 2: 2/7 of the single words; nothing else is shared.
    value = bleu("the the the the the the the", ["The cat is on the mat"])
    assert value == pytest.approx((2 / 7 * 1e-7**3) ** 0.25)


def test_bleu_of_papineni_s_first_example() -> None:
    # nltk documents 0.4118 for it; there "Party" is not "party", which an asterisk stands for here.
    output = "It is a guide to action which ensures that the military always obeys the commands of the party"
    reference = "It is a guide to action that ensures that the military will forever heed Party* commands"
    assert bleu(output, [reference]) == pytest.approx(0.4118, abs=1e-4)


def test_bleu_of_a_short_output_is_penalized() -> None:
    assert bleu("the cat sat on", ["the cat sat on the mat"]) == pytest.approx(exp(1 - 6 / 4))


def test_bleu_of_few_words_has_few_orders() -> None:
    assert bleu("Hello", ["hello"]) == 1.0


def test_bleu_of_an_empty_output_is_zero() -> None:
    assert bleu(" ", ["a"]) == 0.0


@given(st.text(), st.text())
def test_both_scores_are_between_zero_and_one(output: str, reference: str) -> None:
    assert 0 <= rouge_1(output, reference) <= 1
    assert 0 <= bleu(output, [reference]) <= 1


@given(st.text())
def test_a_text_matches_itself_fully(text: str) -> None:
    assert rouge_1(text, text) == float(bool(tokenize(text)))
    assert bleu(text, [text]) == pytest.approx(float(bool(text.split())))
