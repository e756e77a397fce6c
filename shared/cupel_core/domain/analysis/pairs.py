"""Compares each pair of columns: do they give the same answers, and do they order the scenarios alike?

Both figures are needed: a target that rates one point higher throughout has the same order and other answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import fsum, sqrt, sumprod
from operator import add

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.ranks import spearman
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval

_TINY = 1e-12

type CodeShares = tuple[float, ...]
"""The share of each category in a rater's answers; a single answer has 1 for its code."""


@dataclass(frozen=True)
class PairAgreement:
    """Compares two columns, given by their numbers in the run, over the scenarios that both have decided."""

    first: int
    second: int
    scenarios: int
    kappa: float | None = None
    """Quadratic-weighted, and measures whether the columns give the same answers."""
    spearman: float | None = None
    """Spearman's rank correlation: whether the columns order the scenarios alike."""
    spearman_p: float | None = None
    adjusted_p: float | None = None
    """The p-value is adjusted by Holm's method over all pairs of the run."""
    equal_share: float | None = None
    difference: float | None = None
    """The mean of the second less that of the first; each scenario counts once."""
    interval: Interval | None = None
    effect_size: float | None = None


class _Ratings:
    """Numbers the different ratings of a run, and computes the figures of each once."""

    def __init__(self, ratings: Sequence[Sequence[CodeShares | None]], metric: Metric) -> None:
        self._known = list({each: None for column in ratings for each in column if each is not None})
        numbers: Mapping[CodeShares | None, int | None] = {each: number for number, each in enumerate(self._known)}
        self.columns = [[numbers.get(each) for each in column] for column in ratings]
        values = range(1, 6) if metric is Metric.DECISION else range(2)
        self.means = [sumprod(each, values) for each in self._known]
        self.squares = [sumprod(each, [value * value for value in values]) for each in self._known]
        self._shares = list(zip(*self._known, strict=True))

    def __len__(self) -> int:
        return len(self._known)

    def equal(self, first: Sequence[int], second: Sequence[int], times: Sequence[int]) -> float:
        return fsum(
            sumprod([share[a] * weight for a, weight in zip(first, times, strict=True)], [share[b] for b in second])
            for share in self._shares
        )


def pair_agreements(ratings: Sequence[Sequence[CodeShares | None]], metric: Metric) -> tuple[PairAgreement, ...]:
    known = _Ratings(ratings, metric)
    missing, width = len(known), len(known) + 1
    columns = [[missing if number is None else number for number in column] for column in known.columns]
    rows = [[number * width for number in column] for column in columns]
    pairs = []
    for first, second in combinations(range(len(columns)), 2):
        table = Counter(map(add, rows[first], columns[second]))
        common = {pair: times for pair, times in table.items() if pair // width != missing and pair % width != missing}
        pairs.append(_pair(first, second, common, known))
    adjusted = holm([pair.spearman_p for pair in pairs])
    return tuple(replace(pair, adjusted_p=p) for pair, p in zip(pairs, adjusted, strict=True))


def _pair(first: int, second: int, common: Mapping[int, int], known: _Ratings) -> PairAgreement:
    scenarios, times, width = sum(common.values()), list(common.values()), len(known) + 1
    if not scenarios:
        return PairAgreement(first, second, 0)
    one, other = [pair // width for pair in common], [pair % width for pair in common]
    x, y = [known.means[number] for number in one], [known.means[number] for number in other]
    rho = spearman(x, y, times)
    squares = [known.squares[a] + known.squares[b] for a, b in zip(one, other, strict=True)]
    return replace(
        _difference(PairAgreement(first, second, scenarios), x, y, times),
        kappa=_kappa(x, y, squares, times),
        spearman=rho.value if rho else None,
        spearman_p=rho.p if rho else None,
        equal_share=known.equal(one, other, times) / scenarios,
    )


def _kappa(x: Sequence[float], y: Sequence[float], squares: Sequence[float], times: Sequence[int]) -> float | None:
    """Return Cohen's kappa with quadratic weights: 1 less the mean squared disagreement over that of independent
    raters. `squares` are the sums of both ratings' mean squares."""
    count = sum(times)
    square = sumprod(times, squares) / count
    product = sumprod(times, [a * b for a, b in zip(x, y, strict=True)]) / count
    expected = square - 2 * (sumprod(times, x) / count) * (sumprod(times, y) / count)
    return 1 - (square - 2 * product) / expected if expected > _TINY else None


def _difference(pair: PairAgreement, x: Sequence[float], y: Sequence[float], times: Sequence[int]) -> PairAgreement:
    count = pair.scenarios
    mean_x, mean_y = sumprod(times, x) / count, sumprod(times, y) / count
    mean = mean_y - mean_x
    if count < 2:
        return replace(pair, difference=mean)
    spread = fsum(t * ((a - mean_x) ** 2 + (b - mean_y) ** 2) for a, b, t in zip(x, y, times, strict=True)) / (
        count - 1
    )
    deviations = fsum(t * (b - a - mean) ** 2 for a, b, t in zip(x, y, times, strict=True))
    interval = None
    if count >= MIN_SCENARIOS:
        reach = t_quantile(0.975, count - 1) * sqrt(deviations / (count - 1) / count)
        interval = Interval(mean - reach, mean + reach)
    effect = mean / sqrt(spread / 2) if spread > _TINY else None
    return replace(pair, difference=mean, interval=interval, effect_size=effect)
