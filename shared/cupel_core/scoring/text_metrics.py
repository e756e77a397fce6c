"""Similarity of two texts by their characters or words, from 0 to 1, as OpenAI's evals name the metrics.

`overlap.py` computes what promptfoo computes, which tokenizes and smooths differently.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import exp, log

from cupel_core.domain.scoring.grader_values import TextMetric

_WORD = re.compile(r"\w+|[^\w\s]")
_BLEU_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([!-&(-+:-@/\[-`{-~])", r" \1 "),
        (r"([^0-9])([.,])", r"\1 \2 "),
        (r"([.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )
)
"""The tokens of mteval-v13a: punctuation stands alone, except in numbers and contractions."""
_ALPHANUMERIC = re.compile(r"[^\W_]+")
_MAX_ORDER = 4
_METEOR_ALPHA, _METEOR_BETA, _METEOR_GAMMA = 0.9, 3.0, 0.5

type Grams = Counter[tuple[str, ...]]


def fuzzy_match(text: str, reference: str) -> float:
    """rapidfuzz's weighted ratio of the texts in lower case, without punctuation around words."""
    from rapidfuzz import fuzz, utils

    return fuzz.WRatio(text, reference, processor=utils.default_process) / 100


def bleu(text: str, reference: str) -> float:
    """Of a sentence (Papineni et al., 2002), with sacrebleu's tokens and smoothing: each order without a match counts
    half as much as the one before."""
    words, expected = _bleu_tokens(text), _bleu_tokens(reference)
    if not words or not expected:
        return 0.0
    logarithms, smoothing = [], 1.0
    for order in range(1, min(_MAX_ORDER, len(words)) + 1):
        grams = _grams(words, order)
        shared: float = (grams & _grams(expected, order)).total()
        if not shared:
            if order == 1:
                return 0.0
            smoothing *= 2
            shared = 1 / smoothing
        logarithms.append(log(shared / grams.total()))
    brevity = min(1.0, exp(1 - len(expected) / len(words)))
    return brevity * exp(sum(logarithms) / len(logarithms))


def gleu(text: str, reference: str) -> float:
    """Google's (Wu et al., 2016): the lower of precision and recall of all n-grams up to four words."""
    words, expected = _WORD.findall(text), _WORD.findall(reference)
    grams, wanted = _grams_up_to(words), _grams_up_to(expected)
    most = max(grams.total(), wanted.total())
    return (grams & wanted).total() / most if most else 0.0


def meteor(text: str, reference: str) -> float:
    """Of equal words (Banerjee and Lavie, 2005); synonyms and stems, which need a dictionary, are different words."""
    words, expected = _WORD.findall(text.lower()), _WORD.findall(reference.lower())
    matches = _aligned(words, expected)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(words), len(matches) / len(expected)
    mean = precision * recall / (_METEOR_ALPHA * precision + (1 - _METEOR_ALPHA) * recall)
    chunks = 1 + sum(later != (earlier[0] + 1, earlier[1] + 1) for earlier, later in pairwise(matches))
    penalty: float = _METEOR_GAMMA * (chunks / len(matches)) ** _METEOR_BETA
    return mean * (1 - penalty)


def _aligned(words: list[str], expected: list[str]) -> list[tuple[int, int]]:
    """Positions of equal words, each used once; from the end, as in NLTK."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(expected):
        positions.setdefault(word, []).append(position)
    matches = [
        (number, positions[words[number]].pop())
        for number in range(len(words) - 1, -1, -1)
        if positions.get(words[number])
    ]
    return matches[::-1]


def rouge_n(order: int, text: str, reference: str) -> float:
    """F1 of the n-grams (Lin, 2004), ignoring case and punctuation."""
    grams, expected = _grams(_plain_words(text), order), _grams(_plain_words(reference), order)
    return _f1((grams & expected).total(), grams.total(), expected.total())


def rouge_l(text: str, reference: str) -> float:
    """F1 of the longest common subsequence of words, ignoring case and punctuation."""
    from rapidfuzz.distance import LCSseq

    words, expected = _plain_words(text), _plain_words(reference)
    return _f1(LCSseq.similarity(words, expected), len(words), len(expected))


METRICS: Mapping[TextMetric, Callable[[str, str], float]] = {
    TextMetric.FUZZY_MATCH: fuzzy_match,
    TextMetric.BLEU: bleu,
    TextMetric.GLEU: gleu,
    TextMetric.METEOR: meteor,
    TextMetric.ROUGE_L: rouge_l,
    **{TextMetric(f"rouge_{order}"): partial(rouge_n, order) for order in range(1, 6)},
}


def _bleu_tokens(text: str) -> list[str]:
    text = f" {text} "
    for pattern, replacement in _BLEU_RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def _plain_words(text: str) -> list[str]:
    return _ALPHANUMERIC.findall(text.lower())


def _grams(words: list[str], order: int) -> Grams:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _grams_up_to(words: list[str], order: int = _MAX_ORDER) -> Grams:
    return sum((_grams(words, each) for each in range(1, order + 1)), Counter())


def _f1(shared: float, count: int, expected: int) -> float:
    return 2 * shared / (count + expected) if shared else 0.0
