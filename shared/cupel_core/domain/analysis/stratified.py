"""The difference on exactly these scenarios, of which only the answers are left to chance.

It says nothing about other scenarios, and needs no number of them: one is enough if it has repeats.
"""

from collections.abc import Iterable, Sequence
from math import exp, fsum, lgamma, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import normal_quantile, normal_upper_tail, t_quantile, t_two_sided_p
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval, Trials

_MAX_OUTCOMES = 1_000
"""Of which the probabilities are computed; with more, the normal distribution is as good."""
_TIE = 1 + 1e-9


class Stratum(NamedTuple):
    """The answers of both sides to one scenario."""

    baseline: Trials
    comparison: Trials


class OwnDifference(NamedTuple):
    """The mean of the scenarios' differences; the others are None where nothing is known of the answers' chance."""

    difference: float
    interval: Interval | None
    p: float | None


def own_difference(metric: Metric, strata: Sequence[Stratum], alpha: float) -> OwnDifference | None:
    """None without a scenario that both sides answered."""
    if not strata:
        return None
    difference = fsum(_mean(each.comparison) - _mean(each.baseline) for each in strata) / len(strata)
    return _rates(difference, strata, alpha) if metric.is_rate else _codes(difference, strata, alpha)


def _rates(difference: float, strata: Sequence[Stratum], alpha: float) -> OwnDifference:
    """The exact test of Cochran, Mantel and Haenszel's hypothesis in its mid-p form: in each scenario, both sides pass
    with the same probability. The interval has the variance of Agresti and Coull's rates, so that it has a width also
    if all answers pass."""
    p = conditional_mid_p(strata)
    variance = fsum(_rate_variance(side) for each in strata for side in each) / len(strata) ** 2
    reach = normal_quantile(1 - alpha / 2) * sqrt(variance)
    low, high = max(-1.0, difference - reach), min(1.0, difference + reach)
    if p >= alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    elif difference:
        low, high = (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))
    return OwnDifference(difference, Interval(low, high), p)


def _codes(difference: float, strata: Sequence[Stratum], alpha: float) -> OwnDifference:
    """Welch's t over all scenarios, with Satterthwaite's degrees of freedom."""
    parts = [
        (side.variance / side.n / len(strata) ** 2, side.n - 1)
        for each in strata
        for side in each
        if side.variance is not None
    ]
    total = fsum(part for part, _ in parts)
    if len(parts) < 2 * len(strata) or not total:
        return OwnDifference(difference, None, None)
    df, error = total**2 / fsum(part**2 / freedom for part, freedom in parts), sqrt(total)
    reach = t_quantile(1 - alpha / 2, df) * error
    return OwnDifference(
        difference, Interval(difference - reach, difference + reach), t_two_sided_p(difference / error, df)
    )


def conditional_mid_p(strata: Iterable[Stratum]) -> float:
    """Two-sided, given how many answers of each scenario pass on either side together."""
    tables = [_Table.of(each) for each in strata]
    outcomes = 1 + sum(table.most - table.least for table in tables)
    observed = sum(table.observed for table in tables)
    if outcomes > _MAX_OUTCOMES:
        spread = sqrt(fsum(table.variance for table in tables))
        return 2 * normal_upper_tail(abs(observed - fsum(table.expected for table in tables)) / spread)
    least, probabilities = sum(table.least for table in tables), [1.0]
    for table in tables:
        probabilities = _convolve(probabilities, table.probabilities())
    own = probabilities[observed - least]
    more_extreme = fsum(each for each in probabilities if each * _TIE < own)
    as_extreme = fsum(each for each in probabilities if own <= each * _TIE and each <= own * _TIE)
    return min(1.0, more_extreme + as_extreme / 2)


class _Table(NamedTuple):
    """How many of the answers of the comparison pass, of a scenario of which so many pass on either side together."""

    comparison: int
    baseline: int
    passed: int
    observed: int

    @classmethod
    def of(cls, stratum: Stratum) -> "_Table":
        before, after = stratum
        return cls(after.n, before.n, before.total + after.total, after.total)

    @property
    def least(self) -> int:
        return max(0, self.passed - self.baseline)

    @property
    def most(self) -> int:
        return min(self.comparison, self.passed)

    @property
    def expected(self) -> float:
        return self.comparison * self.passed / (self.comparison + self.baseline)

    @property
    def variance(self) -> float:
        number = self.comparison + self.baseline
        failed = number - self.passed
        return self.comparison * self.baseline * self.passed * failed / (number**2 * (number - 1))

    def probabilities(self) -> list[float]:
        """Of each number from the least to the most, by the hypergeometric distribution."""
        logs = [
            _log_ways(self.comparison, number) + _log_ways(self.baseline, self.passed - number)
            for number in range(self.least, self.most + 1)
        ]
        highest = max(logs)
        weights = [exp(each - highest) for each in logs]
        total = fsum(weights)
        return [weight / total for weight in weights]


def _convolve(first: Sequence[float], second: Sequence[float]) -> list[float]:
    result = [0.0] * (len(first) + len(second) - 1)
    for position, probability in enumerate(first):
        for offset, other in enumerate(second):
            result[position + offset] += probability * other
    return result


def _log_ways(number: int, chosen: int) -> float:
    return lgamma(number + 1) - lgamma(chosen + 1) - lgamma(number - chosen + 1)


def _mean(trials: Trials) -> float:
    return trials.total / trials.n


def _rate_variance(trials: Trials) -> float:
    rate = (trials.total + 1) / (trials.n + 2)
    return rate * (1 - rate) / trials.n
