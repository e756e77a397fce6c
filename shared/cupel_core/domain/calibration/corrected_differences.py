"""Compares corrected pass rates, each with its own calibration."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import normal_quantile
from cupel_core.domain.calibration.corrected_rates import CorrectedRate
from cupel_core.domain.statistics import Interval


class CorrectedDifference(NamedTuple):
    """A difference of means of corrected rates."""

    value: float
    interval: Interval | None
    """None if a rate has no interval for scenarios like these."""
    standard_error: float


def corrected_difference(comparison: Sequence[CorrectedRate], baseline: Sequence[CorrectedRate]) -> CorrectedDifference:
    """Return the mean of the comparison's rates minus that of the baseline's; each target counts once.

    Both sides are always corrected, without a test whether the judge is equally good on both. See `_combine` for the
    interval.
    """
    factors = [1 / len(comparison)] * len(comparison) + [-1 / len(baseline)] * len(baseline)
    return _combine([*comparison, *baseline], factors)


def _combine(rates: Sequence[CorrectedRate], factors: Sequence[float]) -> CorrectedDifference:
    """Add rates, and find the interval from theirs (MOVER, Zou and Donner 2008, doi:10.1002/sim.3095).

    Each limit is as far from the sum as the rates' own limits of that side together, with their covariance: that of
    scenarios that several rates have, and that of calibrating labels that several rates use. The covariance comes from
    the rates' influences. The rates' standard errors are at least those that their intervals imply, which also contain
    what was not seen.
    """
    value = fsum(factor * rate.rate for factor, rate in zip(factors, rates, strict=True))
    pairs = list(product(range(len(rates)), repeat=2))
    covariances = {(i, j): _covariance(rates[i].influences, rates[j].influences) for i, j in pairs}
    error = sqrt(max(0.0, fsum(factors[i] * factors[j] * covariances[i, j] for i, j in pairs)))
    intervals = [rate.interval for rate in rates if rate.interval is not None]
    if len(intervals) < len(rates):
        return CorrectedDifference(value, None, error)
    errors = [_implied_error(rate, interval) for rate, interval in zip(rates, intervals, strict=True)]

    def reach(is_low: bool) -> float:
        distances = [
            rate.rate - interval.low if (factor > 0) == is_low else interval.high - rate.rate
            for rate, interval, factor in zip(rates, intervals, factors, strict=True)
        ]
        total = fsum(
            factors[i] * factors[j] * distances[i] * distances[j] * _correlation(i, j, covariances, errors)
            for i, j in pairs
        )
        return sqrt(max(0.0, total))

    ends = fsum(factor for factor in factors if factor < 0), fsum(factor for factor in factors if factor > 0)
    return CorrectedDifference(
        value, Interval(max(ends[0], value - reach(True)), min(ends[1], value + reach(False))), error
    )


def _covariance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    fewer, more = sorted((one, other), key=len)
    return fsum(influence * more[key] for key, influence in fewer.items() if key in more)


def _implied_error(rate: CorrectedRate, interval: Interval) -> float:
    z = normal_quantile((1 + rate.confidence) / 2)
    return max(rate.standard_error, (interval.high - interval.low) / (2 * z))


def _correlation(i: int, j: int, covariances: Mapping[tuple[int, int], float], errors: Sequence[float]) -> float:
    if i == j:
        return 1.0
    scale = errors[i] * errors[j]
    return max(-1.0, min(1.0, covariances[i, j] / scale)) if scale else 0.0
