"""How many words two texts share in a row: ROUGE (Lin, 2004) and BLEU (Papineni et al., 2002), as promptfoo has them.

The libraries for them (nltk, rouge-score, sacrebleu) bring 30 MB of others, and split and smooth otherwise: near a
threshold they would pass what promptfoo fails (docs/decisions.md).
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log

_MAX_ORDER = 4
_SMOOTHED = 1e-7
"""In place of no match at all: its logarithm would be without end."""

# Penn Treebank's rules: punctuation stands for itself, numbers and abbreviations keep theirs, contractions are split.
_RULES = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
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
            lambda found: " {} {} ".format(*(part for part in found.groups() if part)),
        ),
    )
)


def rouge_1(output: str, reference: str) -> float:
    """F1 of the words in common, whatever their case."""
    words, expected = Counter(tokens(output)), Counter(tokens(reference))
    shared = (words & expected).total()
    return 2 * shared / (words.total() + expected.total()) if shared else 0.0


def tokens(text: str) -> list[str]:
    text = f" {text.lower().strip()} "
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return text.split()


def bleu(output: str, references: Sequence[str]) -> float:
    """Of as many orders up to four as the output has words; of several references, each order takes the best."""
    words = output.lower().split()
    if not words:
        return 0.0
    expected = [reference.lower().split() for reference in references]
    orders = range(1, min(_MAX_ORDER, len(words)) + 1)
    precisions = [max(_precision(words, each, order) for each in expected) for order in orders]
    nearest = min((len(each) for each in expected), key=lambda length: (abs(length - len(words)), length))
    brevity = min(1.0, exp(1 - nearest / len(words)))
    return brevity * exp(sum(log(precision or _SMOOTHED) for precision in precisions) / len(precisions))


def _precision(words: list[str], expected: list[str], order: int) -> float:
    grams = _grams(words, order)
    return (grams & _grams(expected, order)).total() / grams.total()


def _grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
