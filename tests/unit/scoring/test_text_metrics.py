"""Similarities of texts against the values of sacrebleu, NLTK and rouge-score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.scoring.grader_values import TextMetric
from cupel_core.scoring.text_metrics import METRICS

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
