"""Predicts the sum of further figures from known ones of a sample of scenarios, such as what conversations cost."""

from collections.abc import Collection, Mapping, Sequence
from math import exp, fsum, log1p, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.estimates.intervals import EstimateInterval

_UPPER = 0.975
_CONFIDENCE = 0.95
_UNKNOWN_WORST = 2.0
"""An unseen figure may be this many times the mean if no limit is known."""


class _PredictionError(NamedTuple):
    """It is the variance of a predicted mean, with its degrees of freedom."""

    variance: float
    df: float


class _KnownFigures(NamedTuple):
    """Known figures by scenario, and how many scenarios the further figures are of."""

    known: Mapping[int, Sequence[float]]
    shared: Collection[int]
    """These of the known scenarios are among the further figures' scenarios."""
    scenarios: int
    """It is the number of the further figures' scenarios."""

    @property
    def unknown(self) -> int:
        """How many of the further figures' scenarios have no known figure."""
        return self.scenarios - len(self.shared)

    @property
    def weights(self) -> dict[int, float]:
        """The weight of each known scenario's mean in the predicted mean: known scenarios stand for themselves, and
        all of them together for the unknown ones."""
        for_others = self.unknown / len(self.known)
        return {scenario: ((scenario in self.shared) + for_others) / self.scenarios for scenario in self.known}


def predicted_sum(
    known: Mapping[int, Sequence[float]], count: int, scenarios: Collection[int], worst: float = 0.0
) -> EstimateInterval:
    """The sum of `count` further figures, spread evenly over `scenarios`, from known figures by scenario.

    The bounds hold 95 % of runs like the known ones. There must be more than one known figure, and more than one known
    scenario unless it is the only one of `scenarios`. Costs are skewed to the right, most of all in small samples: the
    interval holds that of a normal and that of a lognormal distribution. However equal the known figures are, a share
    of `_unseen_share` may be different, and then be nothing or `worst`, which no single figure exceeds.
    """
    sample = _known_figures(known, count, scenarios)
    means = {scenario: fmean(figures) for scenario, figures in known.items()}
    mean = fsum(weight * means[scenario] for scenario, weight in sample.weights.items())
    if mean <= 0:
        return EstimateInterval()
    error = _error(sample, list(means.values()), count)
    t, deviation, unseen = t_quantile(_UPPER, error.df), sqrt(error.variance), _unseen_share(sample)
    factor = exp(t * sqrt(log1p((deviation / mean) ** 2)))
    largest = max(worst, _UNKNOWN_WORST * mean, *(max(figures) for figures in known.values()))
    low = min(mean - t * deviation, mean / factor, mean * (1 - unseen))
    high = max(mean + t * deviation, mean * factor, mean + unseen * (largest - mean))
    return EstimateInterval(count * max(0.0, low), count * mean, count * (min(high, largest) if worst else high))


def _known_figures(known: Mapping[int, Sequence[float]], count: int, scenarios: Collection[int]) -> _KnownFigures:
    """Of fewer figures than scenarios it is unknown which scenarios they have, so all of them count as unknown."""
    if count < len(scenarios):
        return _KnownFigures(known, (), count)
    return _KnownFigures(known, [scenario for scenario in known if scenario in scenarios], len(scenarios))


def _error(sample: _KnownFigures, means: Sequence[float], count: int) -> _PredictionError:
    """The error of the predicted mean: unknown scenarios differ from the known ones, and figures of a scenario differ.

    Both variances follow from the known figures. Without repeats they cannot be told apart: then the larger error of
    the two extremes counts, in which one of them is zero. The degrees of freedom are Satterthwaite's.
    """
    of_scenarios = sample.unknown / sample.scenarios**2 * (sample.unknown / len(means) + 1)
    sizes = {scenario: len(figures) for scenario, figures in sample.known.items()}
    of_figures = fsum(weight**2 / sizes[scenario] for scenario, weight in sample.weights.items()) + 1 / count
    between_df, within_df = len(means) - 1, sum(sizes.values()) - len(means)
    between = variance(means) if between_df else 0.0
    if not within_df:
        return _PredictionError(between * max(of_scenarios, of_figures), between_df)
    within = fsum(variance(each) * (len(each) - 1) for each in sample.known.values() if len(each) > 1) / within_df
    # The variance of scenarios' means has a part of `within` already.
    rest = max(0.0, of_figures - of_scenarios * fmean(1 / size for size in sizes.values()))
    parts = (of_scenarios * between, between_df), (rest * within, within_df)
    total = fsum(part for part, _ in parts)
    if not total:
        return _PredictionError(0.0, within_df)
    return _PredictionError(total, total**2 / fsum(part**2 / df for part, df in parts if df))


def _unseen_share(sample: _KnownFigures) -> float:
    """The largest share of figures unlike all known ones, of which none would be known in one of 20 samples.

    A whole scenario may be unlike the others, so known scenarios count and not their figures, as far as there are
    unknown scenarios.
    """
    of_scenarios = min(_largest_unseen(len(sample.known)), sample.unknown / sample.scenarios)
    return max(of_scenarios, _largest_unseen(sum(map(len, sample.known.values()))))


def _largest_unseen(known: int) -> float:
    """It is about three of `known`."""
    return float(1 - (1 - _CONFIDENCE) ** (1 / known))
