"""Word overlap of two texts, as in promptfoo: ROUGE (Lin, 2004), BLEU (Papineni et al., 2002), GLEU (Wu et al., 2016).

The libraries for them (nltk, rouge-score, sacrebleu) add 30 MB of dependencies, and tokenize and smooth differently:
near a threshold they would pass what promptfoo fails (docs/decisions.md).
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log

from cupel_core.domain.text import javascript_values

_MAX_ORDER = 4
_ZERO_PRECISION = 1e-7
"""Used for a precision of 0, which has no logarithm."""

# Penn Treebank's rules: punctuation is a token, except in numbers and abbreviations; contractions are split.
_RULES = tuple(
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


def rouge_1(output: str, reference: str) -> float:
    """F1 score of the common words, ignoring case."""
    words, expected = Counter(tokenize(output)), Counter(tokenize(reference))
    shared = (words & expected).total()
    return 2 * shared / (words.total() + expected.total()) if shared else 0.0


def tokenize(text: str) -> list[str]:
    text = f" {text.lower().strip()} "
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def bleu(output: str, references: Sequence[str]) -> float:
    """BLEU up to order four, or as many as the output has words; each order uses the best reference."""
    words = output.lower().split()
    if not words:
        return 0.0
    expected = [reference.lower().split() for reference in references]
    orders = range(1, min(_MAX_ORDER, len(words)) + 1)
    precisions = [max(_precision(words, reference, order) for reference in expected) for order in orders]
    nearest = min((len(reference) for reference in expected), key=lambda length: (abs(length - len(words)), length))
    brevity = min(1.0, exp(1 - nearest / len(words)))
    return brevity * exp(sum(log(precision or _ZERO_PRECISION) for precision in precisions) / len(precisions))


def gleu(output: str, references: Sequence[str]) -> float:
    """GLEU up to order four, ignoring case and periods at the ends of words; the best reference counts."""
    words = _words_without_periods(output)
    return max(_gleu(words, _words_without_periods(reference)) for reference in references)


def _words_without_periods(text: str) -> list[str]:
    """Return the words; an empty list if nothing is left of any of them."""
    found = [word.rstrip(".") for word in javascript_values.words(text.lower())]
    return found if any(found) else []


def _gleu(found: list[str], expected: list[str]) -> float:
    """Return the lower of the precision and the recall of all n-grams."""
    grams, wanted = _grams_up_to(_MAX_ORDER, found), _grams_up_to(_MAX_ORDER, expected)
    most = max(grams.total(), wanted.total())
    return (grams & wanted).total() / most if most else 0.0


def _grams_up_to(highest: int, words: list[str]) -> Counter[tuple[str, ...]]:
    return Counter(gram for order in range(1, highest + 1) for gram in _grams(words, order).elements())


def _precision(words: list[str], expected: list[str], order: int) -> float:
    grams = _grams(words, order)
    return (grams & _grams(expected, order)).total() / grams.total()


def _grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
