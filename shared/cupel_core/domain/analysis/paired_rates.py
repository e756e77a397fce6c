"""Compares rates of two sides with the same scenarios by McNemar's test and Tango's interval.

A scenario that was answered once on either side is gained, lost or equal. With repeats, it is gained in part: with the
probability that, of two answers, one of either side, only that of the comparison passes. Repeats of a scenario are
correlated, so they count as fewer pairs: as the number of independent pairs that would vary as much as the scenarios
do.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import binomial_mid_p, normal_quantile, normal_upper_tail
from cupel_core.domain.statistics import Interval, design_effect, shrunken_correlation

POWER = 0.80
"""A minimum detectable effect is detected with this chance, as is customary."""
_HALVINGS = 50
"""An interval of length 2 is halved this often, so that bounds are as exact as the figures they are computed from."""
_ROUNDING = 1e-12


class RatePair(NamedTuple):
    baseline: float
    comparison: float
    baseline_answers: int
    comparison_answers: int

    @property
    def gained(self) -> float:
        """Return the probability that, of two answers, one of either side, only that of the comparison passes."""
        return self.comparison * (1 - self.baseline)

    @property
    def lost(self) -> float:
        return self.baseline * (1 - self.comparison)

    @property
    def difference(self) -> float:
        return self.comparison - self.baseline


class PairCounts(NamedTuple):
    """Counts the independent pairs of answers that say as much as the scenarios do; the counts need not be whole."""

    gained: float
    lost: float
    pairs: float

    @property
    def difference(self) -> float:
        return (self.gained - self.lost) / self.pairs

    @property
    def p(self) -> float:
        """Return the p of McNemar's test in its mid-p form (Fagerland, Lydersen and Laake 2013). If the sides are
        equal, a pair that differs is as likely to be gained as lost."""
        return binomial_mid_p(min(self.gained, self.lost), self.gained + self.lost)

    def equivalence_p(self, margin: float) -> float:
        """Return the larger p of two score tests that the difference is below the margin and above minus the margin."""
        return normal_upper_tail(min(self._score(-margin), -self._score(margin)))

    def detectable_effect(self, alpha: float, tests: int) -> float:
        """Return the least true difference that one of this many tests had an 80 % chance to detect. At least as many
        pairs are assumed to differ as this difference requires, even if none did."""
        square = (normal_quantile(1 - alpha / (2 * tests)) + normal_quantile(POWER)) ** 2
        discordant = (self.gained + self.lost) / self.pairs
        return max(square / (self.pairs + square), sqrt(square * discordant / (self.pairs + square)))

    def interval(self, alpha: float) -> Interval:
        """Return all differences that Tango's score test does not reject, and zero if McNemar's test does not reject
        it.

        Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample design"
        (1998). The interval lies within -1 and 1, and has a width even if all pairs are equal.
        """
        z = normal_quantile(1 - alpha / 2)
        low, high = self._bound(-1.0, z), self._bound(1.0, -z)
        return Interval(min(low, 0.0), max(high, 0.0)) if self.p >= alpha else Interval(low, high)

    def _bound(self, end: float, z: float) -> float:
        """Return the difference with the score `z` between the observed difference and the end of the scale."""
        inside, outside = self.difference, end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if abs(self._score(middle)) < abs(z):
                inside = middle
            else:
                outside = middle
        return outside if abs(self._score(outside)) < abs(z) else inside

    def _score(self, difference: float) -> float:
        """Return the distance of the observed difference from this one, in standard errors under this one (Tango
        1998)."""
        gained, lost, n = self
        b = 2 * n * difference - (gained + lost) - (gained - lost) * difference
        c = -lost * difference * (1 - difference)
        lost_share = (sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        spread = n * (2 * lost_share + difference * (1 - difference))
        distance = gained - lost - n * difference
        return distance / sqrt(spread) if spread > _ROUNDING else distance * 1e12


def count_pairs(scenarios: Sequence[RatePair]) -> PairCounts:
    gained, lost = fmean(each.gained for each in scenarios), fmean(each.lost for each in scenarios)
    number, size = len(scenarios), _mean_size(scenarios)
    if size == 1 or number == 1:
        return PairCounts(gained * number * size, lost * number * size, number * size)
    of_one_pair = gained + lost - (gained - lost) ** 2
    squared_error = variance(each.difference for each in scenarios) / number
    of_one_pair = of_one_pair if of_one_pair > _ROUNDING else 0.0
    correlation = shrunken_correlation(of_one_pair, squared_error, number, size)
    pairs = number * size / design_effect(correlation, size)
    return PairCounts(gained * pairs, lost * pairs, pairs)


def _mean_size(scenarios: Sequence[RatePair]) -> float:
    """Return the harmonic mean of the number of pairs that a scenario's answers form."""
    inverses = fsum((1 / each.baseline_answers + 1 / each.comparison_answers) / 2 for each in scenarios)
    return len(scenarios) / inverses
