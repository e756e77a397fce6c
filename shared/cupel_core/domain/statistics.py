"""Computes statistics of decisions; undefined statistics are None."""

from collections.abc import Sequence
from dataclasses import field
from math import comb, fsum, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import normal_quantile, t_quantile


class Interval(NamedTuple):
    low: float
    high: float


DECISION_CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""
MIN_SCENARIOS = 5
"""With fewer scenarios, nothing is said about others like them: a valid interval would be too wide to be of use."""
_CONFIDENCE = 0.95
CODE_LIMITS = Interval(1, 5)
_PRIOR_CLUSTERS = 2


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def sample_sd(values: Sequence[float]) -> float | None:
    """Return the standard deviation with n - 1 in the denominator, because the values are a sample of possible
    answers."""
    return stdev(values) if len(values) > 1 else None


def standard_error(values: Sequence[float]) -> float | None:
    sd = sample_sd(values)
    return None if sd is None else sd / sqrt(len(values))


def wilson_interval(successes: float, trials: float, z: float = Z_95) -> Interval | None:
    """Return the score interval of a proportion (Wilson 1927), which is accurate near 0 and 1 and for few trials. For
    dependent trials, pass the effective number, which need not be an integer."""
    if trials == 0:
        return None
    proportion = successes / trials
    spread = z * sqrt(proportion * (1 - proportion) / trials + z * z / (4 * trials * trials))
    center = proportion + z * z / (2 * trials)
    scale = 1 + z * z / trials
    # Rounding errors must not push a bound past the proportion, which equals the bound at 0 and 1.
    low, high = (center - spread) / scale, (center + spread) / scale
    return Interval(max(0.0, min(proportion, low)), min(1.0, max(proportion, high)))


def pass_at_k(trials: int, successes: int, k: int) -> float | None:
    """Return the probability that at least one of `k` trials succeeds; None if there were fewer than `k`.

    The estimate is unbiased: the mean over all ways to draw k of the n trials (Chen et al. 2021, arXiv:2107.03374). The
    estimate 1 - (1 - c/n)^k, which draws with replacement, is too low.
    """
    if not 0 < k <= trials:
        return None
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(trials: int, successes: int, k: int) -> float | None:
    """Return the probability that all of `k` trials succeed (pass^k of tau-bench, Yao et al. 2024, arXiv:2406.12045).
    It is unbiased, while (c/n)^k is too high; None if there were fewer than `k` trials."""
    if not 0 < k <= trials:
        return None
    return comb(successes, k) / comb(trials, k)


class Trials(NamedTuple):
    """Sums up the answers of one cell or scenario: how many there are, their sum and the sum of their squares."""

    n: int
    total: int
    squares: int

    @classmethod
    def of_share(cls, trials: int, successes: int) -> "Trials":
        return cls(trials, successes, successes)

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    @property
    def variance(self) -> float | None:
        """Return the unbiased variance; None for fewer than two answers."""
        if self.n < 2:
            return None
        return (self.n * self.squares - self.total**2) / (self.n * (self.n - 1))


@dataclass
class _SizeSums:
    clusters: int = 0
    total: int = 0
    squares: int = 0
    totals_squared: int = 0


@dataclass
class ClusterMean:
    """Computes the mean over a stream of clusters of correlated answers, such as scenarios with their repeats.

    Each cluster counts once, however many answers it has. Only sums of whole numbers are stored, by the size of the
    clusters, so the order of the stream does not matter, and memory does not grow with its length.
    """

    _by_size: dict[int, _SizeSums] = field(default_factory=dict)

    def add(self, cluster: Trials, times: int = 1) -> None:
        """Add a cluster, or several with the same sums; clusters without answers are ignored."""
        if not cluster.n:
            return
        sums = self._by_size.setdefault(cluster.n, _SizeSums())
        sums.clusters += times
        sums.total += cluster.total * times
        sums.squares += cluster.squares * times
        sums.totals_squared += cluster.total**2 * times

    @property
    def clusters(self) -> int:
        return sum(sums.clusters for sums in self._by_size.values())

    @property
    def answers(self) -> int:
        return sum(size * sums.clusters for size, sums in self._by_size.items())

    @property
    def total(self) -> int:
        return sum(sums.total for sums in self._by_size.values())

    @property
    def mean(self) -> float | None:
        if not self._by_size:
            return None
        return fsum(sums.total / size for size, sums in self._by_size.items()) / self.clusters

    @property
    def sd(self) -> float | None:
        """Return the standard deviation of single answers, whatever their cluster."""
        n = self.answers
        if n < 2:
            return None
        squares = sum(sums.squares for sums in self._by_size.values())
        return sqrt((n * squares - self.total**2) / (n * (n - 1)))

    @property
    def standard_error(self) -> float | None:
        """Return the error of the mean for clusters like these; None for fewer than two."""
        mean, clusters = self.mean, self.clusters
        if mean is None or clusters < 2:
            return None
        # Within a size, differences of whole numbers are exact; clusters of several sizes add the sizes' differences.
        deviations = fsum(
            (sums.clusters * sums.totals_squared - sums.total**2) / (sums.clusters * size * size)
            + sums.clusters * (sums.total / (sums.clusters * size) - mean) ** 2
            for size, sums in self._by_size.items()
        )
        return sqrt(deviations / (clusters * (clusters - 1)))

    @property
    def own_error(self) -> float | None:
        """Return the standard error of the mean for exactly these clusters, in which only the answers are random. It is
        None if a cluster has a single answer, because then the variance of its answers is unknown."""
        if not self._by_size or 1 in self._by_size:
            return None
        variances = fsum(
            (size * sums.squares - sums.totals_squared) / (size * size * (size - 1))
            for size, sums in self._by_size.items()
        )
        return sqrt(variances) / self.clusters

    @property
    def interval_of_codes(self) -> Interval | None:
        """Return Student's interval of 95 %, for scenarios like these if there are MIN_SCENARIOS, else for exactly
        these."""
        clusters = self.clusters
        if clusters < MIN_SCENARIOS:
            return t_interval(self.mean, self.own_error, self.answers - clusters, CODE_LIMITS)
        return t_interval(self.mean, self.standard_error, clusters - 1, CODE_LIMITS)

    @property
    def mean_size(self) -> float:
        """Return the harmonic mean of the clusters' sizes: clusters of this size would have the same random error."""
        return self.clusters / fsum(sums.clusters / size for size, sums in self._by_size.items())


def t_interval(mean: float | None, standard_error: float | None, df: int, limits: Interval) -> Interval | None:
    """Return the interval of 95 %, cut to the limits; None if the mean or its error is unknown."""
    if mean is None or standard_error is None:
        return None
    reach = t_quantile((1 + _CONFIDENCE) / 2, df) * standard_error
    return Interval(max(limits.low, mean - reach), min(limits.high, mean + reach))


class Proportion(ClusterMean):
    """Computes a mean of answers that are 0 or 1."""

    @property
    def effective_trials(self) -> float:
        """Return the number of independent trials that say as much about clusters like these. All trials count if there
        are fewer than MIN_SCENARIOS clusters, because then the interval is for exactly these."""
        clusters, size = self.clusters, self.mean_size
        if clusters < MIN_SCENARIOS:
            return clusters * size
        return clusters * size / design_effect(self._correlation, size)

    @property
    def _correlation(self) -> float:
        share, error, size = self.mean, self.standard_error, self.mean_size
        if share is None or error is None or size == 1:
            return 1.0
        return shrunken_correlation(share * (1 - share), error**2, self.clusters, size)

    @property
    def interval(self) -> Interval | None:
        """Return the interval of 95 %; None for fewer than two answers."""
        share = self.mean
        return (
            None if share is None or self.answers < 2 else share_interval(share, self.effective_trials, self.clusters)
        )


def share_interval(share: float, effective_trials: float, scenarios: int, confidence: float = _CONFIDENCE) -> Interval:
    """Return Wilson's interval, with Student's t for the number of scenarios.

    It is for scenarios like these if there are MIN_SCENARIOS. Otherwise it is for exactly these, and their differences
    are not used, so the normal distribution replaces t.
    """
    quantile = (1 + confidence) / 2
    reach = normal_quantile(quantile) if scenarios < MIN_SCENARIOS else t_quantile(quantile, scenarios - 1)
    found = wilson_interval(share * effective_trials, effective_trials, reach)
    return found or Interval(0.0, 1.0)


def shrunken_correlation(variance: float, squared_error: float, clusters: int, size: float) -> float:
    """Estimate the correlation within clusters from the squared standard error of their mean.

    `variance` is that of one answer, and `size` the number of answers per cluster. Answers that hardly vary say little
    about their correlation, so two further clusters with a correlation of 1 are added; observed clusters are weighted
    by their variance, each at most by 1. Without any variance, each cluster counts as one answer.
    """
    if not variance:
        return 1.0
    effect = squared_error * clusters * size / variance
    observed = min(1.0, max(0.0, (effect - 1) / (size - 1)))
    weight = 4 * variance * clusters
    return (weight * observed + _PRIOR_CLUSTERS) / (weight + _PRIOR_CLUSTERS)


def design_effect(correlation: float, size: float) -> float:
    """Return the factor by which the variance exceeds that of independent answers (Kish 1965)."""
    return 1 + (size - 1) * correlation
