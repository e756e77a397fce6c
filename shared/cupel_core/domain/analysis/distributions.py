"""Computes tail probabilities and quantiles of the distributions that tests and intervals refer to.

All follow from two functions: the regularized incomplete beta function (t, F, binomial) and the regularized incomplete
gamma function (chi-squared). Each is a density times a continued fraction or a series. The densities are computed in
Loader's form ("Fast and accurate computation of binomial probabilities", 2000), because with large parameters the
differences of logarithms of gamma functions lose digits.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, count, islice
from math import erfc, exp, lgamma, log, pi, sqrt
from operator import mul
from statistics import NormalDist
from typing import NamedTuple

_PRECISION = 1e-15
_MAX_TERMS = 100_000
"""A bound of the work on a value that is not a number. The terms needed grow with the root of the parameters."""
_TINY = 1e-300
"""The value that replaces zero denominators in Lentz's method."""
_HALVINGS = 55
"""An interval whose ends differ by a factor of two is halved this often, which is more than a float has digits."""
_STIRLING_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


class Tails(NamedTuple):
    """Contains the probabilities of a value up to x and above x; the smaller one is accurate to its last digits."""

    lower: float
    upper: float


def normal_upper_tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    return NormalDist().inv_cdf(p)


def t_upper_tail(t: float, df: float) -> float:
    beyond = t_two_sided_p(t, df) / 2
    return beyond if t > 0 else 1 - beyond


def t_two_sided_p(t: float, df: float) -> float:
    """Return the probability of a value at least as far from zero as `t`."""
    square = t * t
    return beta_tails(df / 2, 0.5, df / (df + square), square / (df + square)).lower


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    if p == 0.5:
        return 0.0
    distance = _solve(lambda t: t_upper_tail(t, df), min(p, 1 - p))
    return distance if p > 0.5 else -distance


def f_upper_tail(f: float, df1: float, df2: float) -> float:
    total = df2 + df1 * f
    return beta_tails(df2 / 2, df1 / 2, df2 / total, df1 * f / total).lower


def f_quantile(p: float, df1: float, df2: float) -> float:
    if p < 0.5:  # the reciprocal of an F variable is an F variable with exchanged degrees of freedom
        return 1 / _solve(lambda f: f_upper_tail(f, df2, df1), p)
    return _solve(lambda f: f_upper_tail(f, df1, df2), 1 - p)


def chi_squared_upper_tail(x: float, df: float) -> float:
    return gamma_tails(df / 2, x / 2).upper


def chi_squared_quantile(p: float, df: float) -> float:
    if p < 0.5:  # the lower tail falls with the reciprocal
        return 1 / _solve(lambda reciprocal: gamma_tails(df / 2, 1 / (2 * reciprocal)).lower, p)
    return _solve(lambda x: chi_squared_upper_tail(x, df), 1 - p)


def binomial_lower_tail(successes: int, trials: int, p: float) -> float:
    if successes < 0:
        return 0.0
    return 1.0 if successes >= trials else beta_tails(trials - successes, successes + 1, 1 - p, p).lower


def binomial_probability(successes: int, trials: int, p: float) -> float:
    if not 0 <= successes <= trials:
        return 0.0
    if successes in (0, trials) or p in (0, 1):
        return float(p**successes * (1 - p) ** (trials - successes))
    return _binomial_density(successes, trials - successes, p, 1 - p)


def binomial_upper_bound(successes: int, trials: int, error: float) -> float:
    """Return Clopper and Pearson's upper bound of a probability: so few successes have a chance of `error` at it."""
    low, high = successes / trials, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if binomial_lower_tail(successes, trials, middle) > error else (low, middle)
    return high


def binomial_mid_p(fewer: float, trials: float) -> float:
    """Return the two-sided mid-p of a fair coin's less frequent side; the numbers need not be whole. It counts half of
    the probability of what was observed, as the exact test is too cautious with few trials."""
    if not trials:
        return 1.0
    more = trials - fewer
    tail = beta_tails(more, fewer + 1, 0.5, 0.5).lower
    observed = _binomial_density(fewer, more, 0.5, 0.5) if fewer else 0.5**trials
    return min(1.0, 2 * tail - observed)


def binomial_quantile(q: float, trials: int, p: float) -> int:
    """Return the least number of successes that a binomial variable stays at or below with probability `q`."""
    low, high = 0, trials
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_lower_tail(middle, trials, p) >= q else (middle + 1, high)
    return low


def beta_tails(a: float, b: float, x: float, y: float) -> Tails:
    """Return I_x(a, b), the regularized incomplete beta function, and its complement; y is 1 - x without rounding."""
    if x <= 0 or y <= 0:
        return Tails(0.0, 1.0) if x <= 0 else Tails(1.0, 0.0)
    if x * (a + b + 2) <= a + 1:
        lower = _beta_lower_tail(a, b, x, y)
        return Tails(lower, 1 - lower)
    upper = _beta_lower_tail(b, a, y, x)
    return Tails(1 - upper, upper)


def gamma_tails(a: float, x: float) -> Tails:
    """Return P(a, x), the regularized incomplete gamma function, and its complement."""
    if x <= 0:
        return Tails(0.0, 1.0)
    density = exp(-_stirling_error(a) - _deviance(a, x, x - a)) / sqrt(2 * pi * a)
    if x <= a + 1:
        lower = density * _series(x / (a + n) for n in count(1))
        return Tails(lower, 1 - lower)
    start = x + 1 - a
    upper = density * a / _continued_fraction(start, ((n * (a - n), start + 2 * n) for n in count(1)))
    return Tails(1 - upper, upper)


def _beta_lower_tail(a: float, b: float, x: float, y: float) -> float:
    """Compute the tail by a continued fraction that converges fast for x up to about a / (a + b)."""
    fraction = _continued_fraction(1.0, ((numerator, 1.0) for numerator in _beta_numerators(a, b, x)))
    return _binomial_density(a, b, x, y) * b / (a + b) / fraction


def _beta_numerators(a: float, b: float, x: float) -> Iterator[float]:
    """Yield the numerators of Abramowitz and Stegun 26.5.8."""
    for m in count():
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        yield (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))


def _binomial_density(a: float, b: float, p: float, q: float) -> float:
    """Return (a + b)! / (a! b!) p^a q^b for real a and b above zero; q = 1 - p."""
    total, difference = a + b, b * p - a * q
    errors = _stirling_error(total) - _stirling_error(a) - _stirling_error(b)
    deviances = _deviance(a, total * p, difference) + _deviance(b, total * q, -difference)
    return exp(errors - deviances) * sqrt(total / (2 * pi * a * b))


def _stirling_error(z: float) -> float:
    """Return log(z!) minus Stirling's approximation of it."""
    if z < 16:
        return lgamma(z + 1) - (z + 0.5) * log(z) + z - log(2 * pi) / 2
    return sum(coefficient / z ** (2 * n + 1) for n, coefficient in enumerate(_STIRLING_SERIES))


def _deviance(value: float, expected: float, difference: float) -> float:
    """Return value * log(value / expected) + difference, where difference = expected - value without rounding."""
    relative = difference / value
    if abs(relative) > 0.5:
        return value * log(value / expected) + difference
    ratio = relative / (2 + relative)
    powers = accumulate(count(1), lambda power, _: power * ratio * ratio, initial=ratio**3)
    rest = sum(islice((power / (2 * n + 3) for n, power in enumerate(powers)), 30))
    return value * (relative * ratio - 2 * rest)


def _series(ratios: Iterable[float]) -> float:
    """Return 1 + r1 + r1 r2 + r1 r2 r3 + …"""
    total = 1.0
    for term in islice(accumulate(ratios, mul), _MAX_TERMS):
        total += term
        if term < total * _PRECISION:
            break
    return total


def _continued_fraction(start: float, terms: Iterable[tuple[float, float]]) -> float:
    """Return start + a1 / (b1 + a2 / (b2 + …)) by the modified method of Lentz."""
    value = numerator = start or _TINY
    denominator = 0.0
    for a, b in islice(terms, _MAX_TERMS):
        denominator = 1 / (b + a * denominator or _TINY)
        numerator = b + a / numerator or _TINY
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < _PRECISION:
            break
    return value


def _solve(tail: Callable[[float], float], p: float) -> float:
    """Return the positive x at which `tail`, which falls with x, equals `p`."""
    high = 1.0
    while tail(high) > p:
        high *= 2
    while tail(high / 2) < p:
        high /= 2
    low = high / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > p else (low, middle)
    return (low + high) / 2
