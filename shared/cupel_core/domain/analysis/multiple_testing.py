"""Adjusts the p-values of several tests; None stands for a test that could not be made and is not counted."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust by Holm (1979): the probability of any false positive among all tests is at most the level."""
    ascending = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(ascending):
        highest = max(highest, min(1.0, (len(ascending) - rank) * p))
        adjusted[position] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust by Benjamini and Hochberg (1995): of the tests below the level, this share is false positives on
    average."""
    ascending = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    lowest = 1.0
    for rank, (p, position) in reversed(list(enumerate(ascending, 1))):
        lowest = min(lowest, p * (len(ascending) / rank))
        adjusted[position] = lowest
    return adjusted


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    return sorted((p, position) for position, p in enumerate(p_values) if p is not None)
