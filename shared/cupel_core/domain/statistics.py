"""Statistics of decisions: numbers in, numbers out; None where a statistic is undefined."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb, fsum, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from cupel_core.deferred import dataclass

DECISION_CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""


class ScenarioDecision(NamedTuple):
    """The decision code of one transcript, and its scenario."""

    scenario_id: str
    code: str


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class DecisionStatistics:
    """`mean`, `sd` and `standard_error` are over the codes 1-5; `other` is counted in the distribution only."""

    distribution: Mapping[str, int]
    """It is empty if no decision rule was applied to an answer."""
    mean: float | None
    sd: float | None
    standard_error: float | None

    @property
    def decided(self) -> int:
        return sum(map(self.count, DECISION_CODES))

    @property
    def ruled(self) -> int:
        """Answers to which the decision rule was applied."""
        return self.decided + self.count(OTHER)

    def count(self, code: str) -> int:
        return self.distribution.get(code, 0)


def decision_statistics(decisions: Iterable[ScenarioDecision]) -> DecisionStatistics:
    """Repeats of one scenario are not independent, so the standard error is clustered by scenario."""
    decisions = list(decisions)
    counts = Counter(decision.code if decision.code in DECISION_CODES else OTHER for decision in decisions)
    scores: dict[str, list[float]] = {}
    for scenario_id, code in decisions:
        if code in DECISION_CODES:
            scores.setdefault(scenario_id, []).append(float(code))
    values = [score for cluster in scores.values() for score in cluster]
    return DecisionStatistics(
        distribution={code: counts[code] for code in (*DECISION_CODES, OTHER)} if decisions else {},
        mean=mean(values),
        sd=sample_sd(values),
        standard_error=clustered_standard_error(scores),
    )


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def sample_sd(values: Sequence[float]) -> float | None:
    """With n - 1 in the denominator: the values are a sample of what the model could have answered."""
    return stdev(values) if len(values) > 1 else None


def standard_error(values: Sequence[float]) -> float | None:
    """Standard error of the mean of independent values."""
    sd = sample_sd(values)
    return None if sd is None else sd / sqrt(len(values))


def clustered_standard_error(clusters: Mapping[str, Sequence[float]]) -> float | None:
    """Standard error of the mean over all values, which are correlated within a cluster.

    Miller, "Adding Error Bars to Evals" (2024, arXiv:2411.00640), times the correction g / (g - 1) for g clusters;
    with one value in each it is `standard_error`.
    """
    filled = [cluster for cluster in clusters.values() if cluster]
    if len(filled) < 2:
        return None
    values = [value for cluster in filled for value in cluster]
    center = fmean(values)
    residuals = fsum(fsum(value - center for value in cluster) ** 2 for cluster in filled)
    return sqrt(residuals * len(filled) / (len(filled) - 1)) / len(values)


def wilson_interval(successes: float, trials: float, z: float = Z_95) -> Interval | None:
    """The score interval of a proportion (Wilson 1927), which is accurate near 0 and 1 and for few trials.

    For dependent trials, pass the effective number, which need not be an integer.
    """
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
    """The probability that at least one of `k` trials succeeds; None if there were fewer than `k`.

    Unbiased: the mean over all ways to draw k of the n trials (Chen et al. 2021, arXiv:2107.03374). The estimate
    1 - (1 - c/n)^k, which draws with replacement, is too low.
    """
    if not 0 < k <= trials:
        return None
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(trials: int, successes: int, k: int) -> float | None:
    """The probability that all of `k` trials succeed (pass^k of tau-bench, Yao et al. 2024, arXiv:2406.12045).

    Unbiased likewise: (c/n)^k is too high. None if there were fewer than `k` trials.
    """
    if not 0 < k <= trials:
        return None
    return comb(successes, k) / comb(trials, k)


class Cluster(NamedTuple):
    """Counts of correlated trials, such as the repeats of one scenario."""

    trials: int
    successes: int


@dataclass
class Proportion:
    """The share of successes over a stream of clusters, in constant memory.

    Keeps sums of integers only, so nothing is lost to rounding: with n_i trials and s_i successes in cluster i, and
    p = S / N, the sum of (s_i - n_i p)^2 equals that of s_i^2 - 2 p s_i n_i + p^2 n_i^2.
    """

    clusters: int = 0
    trials: int = 0
    successes: int = 0
    _squares: int = 0
    _products: int = 0
    _sizes: int = 0

    def add(self, cluster: Cluster, times: int = 1) -> None:
        """Add a cluster, or several with the same counts."""
        trials, successes = cluster
        if not trials:
            return
        self.clusters += times
        self.trials += trials * times
        self.successes += successes * times
        self._squares += successes * successes * times
        self._products += successes * trials * times
        self._sizes += trials * trials * times

    @property
    def mean(self) -> float | None:
        return self.successes / self.trials if self.trials else None

    @property
    def standard_error(self) -> float | None:
        """Equal to `clustered_standard_error`; None for fewer than two clusters."""
        if self.clusters < 2:
            return None
        return sqrt(self._residuals * self.clusters / (self.clusters - 1)) / self.trials

    @property
    def effective_trials(self) -> float:
        """The number of independent trials that would have the same variance, at most that of the trials.

        If all trials succeed, or all fail, the correlation within clusters cannot be estimated: then each cluster
        counts as one trial.
        """
        share = self.successes / self.trials
        if share in (0.0, 1.0):
            return self.clusters
        variance = self._residuals / self.trials**2
        return min(self.trials, share * (1 - share) / variance) if variance else self.trials

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval, with the effective number of trials; None for fewer than two clusters."""
        if self.clusters < 2:
            return None
        effective = self.effective_trials
        return wilson_interval(self.successes / self.trials * effective, effective)

    @property
    def _residuals(self) -> float:
        n, s = self.trials, self.successes
        return (n * n * self._squares - 2 * n * s * self._products + s * s * self._sizes) / (n * n)
