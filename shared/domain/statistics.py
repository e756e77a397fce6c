"""Statistics of decisions: numbers in, numbers out; None where a figure is not defined."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

DECISION_CODES = ("1", "2", "3", "4", "5")
OTHER = "other"
Z_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""


class Decision(NamedTuple):
    """What one transcript decided, and about which scenario."""

    scenario_id: str
    code: str


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class DecisionStatistics:
    """`mean`, `sd` and `standard_error` are over the codes 1-5; `other` is counted in the distribution only."""

    distribution: dict[str, int]
    mean: float | None
    sd: float | None
    standard_error: float | None

    @property
    def decided(self) -> int:
        return sum(self.distribution[code] for code in DECISION_CODES)


def decision_statistics(decisions: Iterable[Decision]) -> DecisionStatistics:
    """Repeats of one scenario are not independent, so the standard error is clustered by scenario."""
    decisions = list(decisions)
    counts = Counter(decision.code if decision.code in DECISION_CODES else OTHER for decision in decisions)
    scores: dict[str, list[float]] = {}
    for scenario_id, code in decisions:
        if code in DECISION_CODES:
            scores.setdefault(scenario_id, []).append(float(code))
    values = [score for cluster in scores.values() for score in cluster]
    return DecisionStatistics(
        distribution={code: counts[code] for code in (*DECISION_CODES, OTHER)},
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
    """Of the mean of independent values."""
    sd = sample_sd(values)
    return None if sd is None else sd / sqrt(len(values))


def clustered_standard_error(clusters: Mapping[str, Sequence[float]]) -> float | None:
    """Of the mean over all values, when those of one cluster go together.

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


def wilson_interval(successes: int, trials: int, z: float = Z_95) -> Interval | None:
    """The score interval of a proportion (Wilson 1927), which holds up near 0 and 1 and for few trials."""
    if trials == 0:
        return None
    proportion = successes / trials
    spread = z * sqrt(proportion * (1 - proportion) / trials + z * z / (4 * trials * trials))
    center = proportion + z * z / (2 * trials)
    scale = 1 + z * z / trials
    # Rounding must not push a limit past the proportion, which at 0 and 1 is the limit itself.
    low, high = (center - spread) / scale, (center + spread) / scale
    return Interval(max(0.0, min(proportion, low)), min(1.0, max(proportion, high)))
