"""Measures the similarity of two texts by characters or words, from 0 to 1, as OpenAI's evals and promptfoo do.

For promptfoo's ROUGE (Lin, 2004), BLEU (Papineni et al., 2002) and GLEU (Wu et al., 2016), the libraries (nltk,
rouge-score, sacrebleu) add 30 MB of dependencies, and tokenize and smooth differently: near a threshold they would pass
what promptfoo fails (docs/decisions.md).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import exp, log

from cupel_core.domain.scoring.grader_values import TextMetric
from cupel_core.domain.text import javascript_values

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
"""The tokens are those of mteval-v13a: punctuation is separate, except in numbers and contractions."""
_ALPHANUMERIC = re.compile(r"[^\W_]+")
_MAX_ORDER = 4
_METEOR_ALPHA, _METEOR_BETA, _METEOR_GAMMA = 0.9, 3.0, 0.5

type Grams = Counter[tuple[str, ...]]
_ZERO_PRECISION = 1e-7
"""Replaces a precision of 0, which has no logarithm."""

# Penn Treebank's rules: punctuation is a token, except in numbers and abbreviations; contractions are split.
_TREEBANK_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|''|\"", ' " '),
        (r"\.{3}", " ... "),
        (r"([:,])(?!\d)", r" \1 "),
        (r"([;@#$%&?!\[\](){}<>])", r" \1 "),
        (r"([^.])(?<!\b[a-z]\.[a-z])(\.)([\])}>'\"\s]*)$", r"\1 \2\3 "),
        (r"--", " -- "),
        (r"([^'\s])' ", r"\1 ' "),
        (r"('(?:s|m|d|ll|re|ve)|n't) ", r" \1 "),
        (
            r"\b(can)(not)\b|\b(d)('ye)\b|\b(gim|lem)(me)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b|\b(more)('n)\b|('t)(is|was)\b",
            lambda match: " {} {} ".format(*(part for part in match.groups() if part)),
        ),
    )
)


def fuzzy_match(text: str, reference: str) -> float:
    """Return rapidfuzz's weighted ratio of the texts in lower case, without punctuation around words."""
    from rapidfuzz import fuzz, utils

    return fuzz.WRatio(text, reference, processor=utils.default_process) / 100


def bleu(text: str, reference: str) -> float:
    """Return the BLEU of a sentence (Papineni et al., 2002), with sacrebleu's tokens and smoothing. Each order without
    a match counts half as much as the one before."""
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
    """Return Google's GLEU (Wu et al., 2016): the lower of precision and recall of all n-grams up to four words."""
    words, expected = _WORD.findall(text), _WORD.findall(reference)
    grams, wanted = _grams_up_to(words), _grams_up_to(expected)
    most = max(grams.total(), wanted.total())
    return (grams & wanted).total() / most if most else 0.0


def meteor(text: str, reference: str) -> float:
    """Return METEOR (Banerjee and Lavie, 2005) of equal words; synonyms and stems, which need a dictionary, count as
    different."""
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
    """Return positions of equal words, each used once, matched from the end as in NLTK."""
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
    """Return the F1 of the n-grams (Lin, 2004), ignoring case and punctuation."""
    grams, expected = _grams(_plain_words(text), order), _grams(_plain_words(reference), order)
    return _f1((grams & expected).total(), grams.total(), expected.total())


def rouge_l(text: str, reference: str) -> float:
    """Return the F1 of the longest common subsequence of words, ignoring case and punctuation."""
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


def rouge_1(output: str, reference: str) -> float:
    """Return the F1 score of the common words, ignoring case."""
    words, expected = Counter(tokenize(output)), Counter(tokenize(reference))
    shared = (words & expected).total()
    return 2 * shared / (words.total() + expected.total()) if shared else 0.0


def tokenize(text: str) -> list[str]:
    text = f" {text.lower().strip()} "
    for pattern, replacement in _TREEBANK_RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def promptfoo_bleu(output: str, references: Sequence[str]) -> float:
    """Return BLEU up to order four, or as many as the output has words; each order uses the best reference."""
    words = output.lower().split()
    if not words:
        return 0.0
    expected = [reference.lower().split() for reference in references]
    orders = range(1, min(_MAX_ORDER, len(words)) + 1)
    precisions = [max(_precision(words, reference, order) for reference in expected) for order in orders]
    nearest = min((len(reference) for reference in expected), key=lambda length: (abs(length - len(words)), length))
    brevity = min(1.0, exp(1 - nearest / len(words)))
    return brevity * exp(sum(log(precision or _ZERO_PRECISION) for precision in precisions) / len(precisions))


def promptfoo_gleu(output: str, references: Sequence[str]) -> float:
    """Return GLEU up to order four, ignoring case and periods at the ends of words; the best reference counts."""
    words = _words_without_periods(output)
    return max(_promptfoo_gleu(words, _words_without_periods(reference)) for reference in references)


def _words_without_periods(text: str) -> list[str]:
    """Return the words; an empty list if nothing is left of any of them."""
    found = [word.rstrip(".") for word in javascript_values.words(text.lower())]
    return found if any(found) else []


def _promptfoo_gleu(found: list[str], expected: list[str]) -> float:
    grams, wanted = _word_grams_up_to(_MAX_ORDER, found), _word_grams_up_to(_MAX_ORDER, expected)
    most = max(grams.total(), wanted.total())
    return (grams & wanted).total() / most if most else 0.0


def _word_grams_up_to(highest: int, words: list[str]) -> Counter[tuple[str, ...]]:
    return Counter(gram for order in range(1, highest + 1) for gram in _word_grams(words, order).elements())


def _precision(words: list[str], expected: list[str], order: int) -> float:
    grams = _word_grams(words, order)
    return (grams & _word_grams(expected, order)).total() / grams.total()


def _word_grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
