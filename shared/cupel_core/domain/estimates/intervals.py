from collections.abc import Callable
from dataclasses import astuple, fields, replace
from math import exp, hypot, log
from typing import Self

from cupel_core.base.deferred import dataclass


@dataclass(frozen=True)
class EstimateInterval:
    """Contains an expected value and its bounds.

    From earlier conversations, 95 % of runs like the past ones are within the bounds. From assumptions, the bounds are
    a range without a probability: the result if the assumptions are off by as much as is usual.
    """

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: Self) -> "EstimateInterval":
        """Add two figures that are independent of each other."""
        expected = self.expected + other.expected
        below = hypot(self.expected - self.low, other.expected - other.low)
        above = hypot(self.high - self.expected, other.high - other.expected)
        return EstimateInterval(max(0.0, expected - below), expected, expected + above)

    def with_same_error(self, other: Self) -> "EstimateInterval":
        """Add two figures whose errors go together: bounds are added, not squares."""
        return EstimateInterval(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def scaled(self, factor: float) -> "EstimateInterval":
        return EstimateInterval(self.low * factor, self.expected * factor, self.high * factor)


@dataclass(frozen=True)
class Unknowns:
    """Contains factors for what an estimate must assume; 1 is the expected value."""

    input: float = 1.0
    """The factor of the tokens of known texts."""
    output: float = 1.0
    """The factor of the tokens of an answer."""
    turns: float = 1.0
    """The factor of the turns of a conversation whose end a judge decides."""
    rounds: float = 1.0
    """The factor of the rounds of tools before an answer."""
    pages: float = 1.0
    """The factor of the tokens of PDFs."""
    latency: float = 1.0


def interval_of(figure: Callable[[Unknowns], float], spread: Unknowns) -> EstimateInterval:
    """Return the range of `figure` if each unknown lies between 1 / its spread and its spread.

    The unknowns are independent of each other, and each acts as a factor: their effects on the logarithm are added as
    squares. A figure that is bounded from above, as an answer is by its limit, is not estimated above that.
    """
    expected = figure(Unknowns())
    if expected <= 0:
        return EstimateInterval()
    names = [each.name for each, factor in zip(fields(spread), astuple(spread), strict=True) if factor != 1.0]
    effects = [(figure(_shifted(spread, name, -1)), figure(_shifted(spread, name, 1))) for name in names]
    below = hypot(*(log(expected / low) for low, _ in effects if low > 0))
    above = hypot(*(log(high / expected) for _, high in effects))
    return EstimateInterval(expected * exp(-below), expected, expected * exp(above))


def _shifted(spread: Unknowns, name: str, direction: int) -> Unknowns:
    return replace(Unknowns(), **{name: getattr(spread, name) ** direction})
