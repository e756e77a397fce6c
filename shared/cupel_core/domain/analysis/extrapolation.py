"""What a run of all scenarios would show, from a run of some of them.

Two figures that must not be mixed: an estimate for scenarios like these, whose error does not depend on how many there
are, and one for exactly the definition's scenarios, of which those that were run are known already. The error of the
second is smaller by the finite population correction (Cochran, Sampling Techniques, 1977, section 2.6), and zero once
all were run.
"""

from math import sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.analysis.paired import MIN_SCENARIOS
from cupel_core.domain.statistics import Interval, wilson_interval


class RunSample(NamedTuple):
    """The scenarios of a run, of those that its definition has."""

    scenarios: int
    total: int
    seed: int

    @property
    def is_partial(self) -> bool:
        return self.scenarios < self.total

    @property
    def correction(self) -> float:
        """Of variances; 0 for a run of all scenarios."""
        return max(0.0, 1 - self.scenarios / self.total) if self.total else 0.0

    @property
    def note(self) -> str | None:
        """For every reader of a sampled run's figures; None for a run of all scenarios."""
        if not self.is_partial:
            return None
        share = 100 * self.scenarios / self.total
        percentage = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
        return f"Based on {percentage} % of the scenarios ({self.scenarios:,} of {self.total:,}, seed {self.seed})."

    def probes_to_add(self, probes: int) -> int:
        """How many probes an expansion to all scenarios adds to a run of so many probes."""
        return round(probes * (self.total - self.scenarios) / self.scenarios) if self.scenarios else 0


class Extrapolation(NamedTuple):
    """The figure that a run of all scenarios would show, with a 95 % interval."""

    value: float
    standard_error: float
    interval: Interval | None
    """None for fewer than MIN_SCENARIOS scenarios."""


def extrapolate_mean(
    mean: float | None, standard_error: float | None, answered: int, sample: RunSample
) -> Extrapolation | None:
    """`answered` is the number of scenarios that the mean is of. None for a run of all scenarios."""
    if mean is None or standard_error is None or not sample.is_partial:
        return None
    error = standard_error * sqrt(sample.correction)
    if answered < MIN_SCENARIOS:
        return Extrapolation(mean, error, None)
    reach = t_quantile(0.975, answered - 1) * error
    return Extrapolation(mean, error, Interval(mean - reach, mean + reach))


def extrapolate_share(
    share: float | None, standard_error: float | None, effective_trials: float, answered: int, sample: RunSample
) -> Extrapolation | None:
    """Wilson's interval with more effective trials, as if they were independent. None for a run of all scenarios."""
    if share is None or standard_error is None or not sample.is_partial:
        return None
    trials = effective_trials / sample.correction
    interval = wilson_interval(share * trials, trials) if answered >= MIN_SCENARIOS else None
    return Extrapolation(share, standard_error * sqrt(sample.correction), interval)
