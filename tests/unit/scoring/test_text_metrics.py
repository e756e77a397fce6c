"""Similarities of texts against the values of sacrebleu, NLTK and rouge-score."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.scoring.grader_values import TextMetric
from cupel_core.scoring.text_metrics import METRICS, promptfoo_bleu, rouge_1, tokenize

PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    (
        "The military always obeys the commands of the party.",
        "The military will forever heed the party's commands.",
    ),
    ("one two three four five six seven", "two three four one five seven six"),
]
EXPECTED = {
    # sacrebleu 2.5: sentence_bleu(…, smooth_method="exp", use_effective_order=True)
    TextMetric.BLEU: (0.379918, 0.105527, 0.302138),
    # NLTK 3.9: sentence_gleu of the same words
    TextMetric.GLEU: (0.5, 0.210526, 0.454545),
    # NLTK 3.9: single_meteor_score without a stemmer and WordNet
    TextMetric.METEOR: (0.806667, 0.391182, 0.817784),
    # rouge-score 0.1: fmeasure without a stemmer
    TextMetric.ROUGE_1: (0.833333, 0.555556, 1.0),
    TextMetric.ROUGE_2: (0.6, 0.25, 0.333333),
    TextMetric.ROUGE_3: (0.25, 0.0, 0.2),
    TextMetric.ROUGE_L: (0.833333, 0.444444, 0.714286),
    # rapidfuzz 3.14: fuzz.WRatio(…, processor=utils.default_process) / 100
    TextMetric.FUZZY_MATCH: (0.930233, 0.732857, 0.95),
}


@pytest.mark.parametrize(("metric", "values"), EXPECTED.items())
def test_the_values_are_those_of_the_reference_libraries(metric: TextMetric, values: tuple[float, ...]) -> None:
    assert [METRICS[metric](*pair) for pair in PAIRS] == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize("metric", TextMetric)
def test_equal_texts_are_fully_similar(metric: TextMetric) -> None:
    text = "a b c d e f g"
    assert METRICS[metric](text, text) == pytest.approx(1.0, abs=0.002)  # METEOR subtracts a little for its one chunk


@pytest.mark.parametrize("metric", TextMetric)
def test_an_empty_text_is_not_similar(metric: TextMetric) -> None:
    assert METRICS[metric]("", "something") == 0.0
    assert METRICS[metric]("something", "") == 0.0


@given(st.sampled_from(TextMetric), st.text(max_size=60), st.text(max_size=60))
def test_every_similarity_is_from_0_to_1(metric: TextMetric, text: str, reference: str) -> None:
    assert -1e-9 <= METRICS[metric](text, reference) <= 1 + 1e-9


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
    value = promptfoo_bleu("the the the the the the the", ["The cat is on the mat"])
    assert value == pytest.approx((2 / 7 * 1e-7**3) ** 0.25)


def test_bleu_of_papineni_s_first_example() -> None:
    # nltk documents 0.4118 for it; there "Party" is not "party", which an asterisk stands for here.
    output = "It is a guide to action which ensures that the military always obeys the commands of the party"
    reference = "It is a guide to action that ensures that the military will forever heed Party* commands"
    assert promptfoo_bleu(output, [reference]) == pytest.approx(0.4118, abs=1e-4)


def test_bleu_of_a_short_output_is_penalized() -> None:
    assert promptfoo_bleu("the cat sat on", ["the cat sat on the mat"]) == pytest.approx(exp(1 - 6 / 4))


def test_bleu_of_few_words_has_few_orders() -> None:
    assert promptfoo_bleu("Hello", ["hello"]) == 1.0


def test_bleu_of_an_empty_output_is_zero() -> None:
    assert promptfoo_bleu(" ", ["a"]) == 0.0


@given(st.text(), st.text())
def test_both_scores_are_between_zero_and_one(output: str, reference: str) -> None:
    assert 0 <= rouge_1(output, reference) <= 1
    assert 0 <= promptfoo_bleu(output, [reference]) <= 1


@given(st.text())
def test_a_text_matches_itself_fully(text: str) -> None:
    assert rouge_1(text, text) == float(bool(tokenize(text)))
    assert promptfoo_bleu(text, [text]) == pytest.approx(float(bool(text.split())))
