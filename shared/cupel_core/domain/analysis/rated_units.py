"""Adds up the ratings of a scenario by several targets, which is all that coefficients of agreement need of it."""

from collections.abc import Iterator, Sequence
from itertools import combinations, repeat
from typing import NamedTuple

from cupel_core.domain.analysis.pairs import CodeShares


class Unit(NamedTuple):
    raters: int
    totals: CodeShares
    pairs: CodeShares
    """Counts, for each two categories, how often two different raters have one each."""


def products(first: CodeShares, second: CodeShares) -> Iterator[float]:
    return (first[low] * second[high] for low, high in combinations(range(len(first)), 2))


def unit_of(ratings: Sequence[CodeShares], size: int) -> Unit:
    """Sum up ratings by this many categories, each of which is the distribution of a rater's answers."""
    totals = tuple(map(sum, zip(*ratings, strict=True))) if ratings else (0.0,) * size
    divided = [each for each in ratings if max(each) < 1]
    own = map(sum, zip(*(products(each, each) for each in divided), strict=True)) if divided else repeat(0.0)
    pairs = (product - same for product, same in zip(products(totals, totals), own, strict=False))
    return Unit(len(ratings), totals, tuple(pairs))
