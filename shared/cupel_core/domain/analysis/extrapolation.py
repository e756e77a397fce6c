"""Extrapolates from a run of sampled scenarios to a run of all scenarios.

Two figures must not be mixed: an estimate for scenarios like these, whose error does not depend on how many there are,
and one for exactly the definition's scenarios, of which those that were run are known already. The error of the second
is smaller by the finite population correction (Cochran, Sampling Techniques, 1977, section 2.6), and zero once all were
run. Conclusions about the other scenarios are only drawn from scenarios that were sampled at random.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.estimates import GroupEstimate, MeanEstimate, ShareEstimate
from cupel_core.domain.analysis.insight_texts import enumerate_names, format_interval, measure
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, share_interval, t_interval
from cupel_core.domain.text.counts import count_of


class RunSample(NamedTuple):
    scenarios: int
    total: int
    seed: int
    probes_to_add: int = 0
    is_drawn: bool = True
    """The scenarios were drawn at random. Otherwise the run has all scenarios, or those that an eval names."""

    @property
    def is_partial(self) -> bool:
        return self.is_drawn and self.scenarios < self.total

    def correction(self, answered: int) -> float:
        """Return the factor for variances if this many scenarios are known."""
        return 1 - answered / self.total

    @property
    def note(self) -> str | None:
        """Return a note for readers of a sampled run's figures; None for any other run."""
        if not self.is_partial:
            return None
        share = 100 * self.scenarios / self.total
        percentage = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
        return f"Based on {percentage}% of the scenarios ({self.scenarios:,} of {self.total:,}, seed {self.seed})."

    @property
    def expansion(self) -> str | None:
        if not (self.is_partial and self.probes_to_add):
            return None
        return f"An expansion to all scenarios adds {count_of(self.probes_to_add, 'conversation')}."


def drawn_sample(scenarios: int, total: int, seed: int, plan: Plan, total_cases: int | None) -> RunSample:
    """Describe a sample of this many scenarios. `total_cases` counts all scenarios with their personas. If it is None,
    the other scenarios are assumed to have as many personas as those that were drawn."""
    cases = total_cases
    if cases is None:
        cases = round(plan.cases * total / scenarios) if scenarios else plan.cases
    return RunSample(scenarios, total, seed, max(0, cases - plan.cases) * len(plan.columns) * plan.repeats)


class Extrapolation(NamedTuple):
    value: float
    standard_error: float
    interval: Interval | None
    """None for fewer than MIN_SCENARIOS scenarios."""


class GroupExtrapolation(NamedTuple):
    """Contains both extrapolations; each is None if nothing follows for the other scenarios."""

    decision: Extrapolation | None
    pass_rate: Extrapolation | None

    def of(self, metric: Metric) -> Extrapolation | None:
        return self.decision if metric is Metric.DECISION else self.pass_rate


def extrapolate(estimate: GroupEstimate, sample: RunSample | None) -> GroupExtrapolation | None:
    """Predict these estimates for a run of all scenarios; None for a run that is no sample."""
    if sample is None or not sample.is_partial:
        return None
    return GroupExtrapolation(
        extrapolate_mean(estimate.decision, sample), extrapolate_share(estimate.pass_rate, sample)
    )


def extrapolate_mean(estimate: MeanEstimate, sample: RunSample) -> Extrapolation | None:
    """Extrapolate by Student's t; only scenarios with an answer are known. Returns None for fewer than two of them."""
    if estimate.mean is None or estimate.standard_error is None or estimate.scenarios < 2:
        return None
    error = estimate.standard_error * sqrt(sample.correction(estimate.scenarios))
    interval = None
    if estimate.scenarios >= MIN_SCENARIOS:
        interval = t_interval(estimate.mean, error, estimate.scenarios - 1, Interval(1, 5))
    return Extrapolation(estimate.mean, error, interval)


def extrapolate_share(estimate: ShareEstimate, sample: RunSample) -> Extrapolation | None:
    """Extrapolate by Wilson's interval, whose effective trials grow by the factor by which the variance is smaller."""
    share, error, correction = estimate.share, estimate.standard_error, sample.correction(estimate.scenarios)
    if share is None or error is None or estimate.scenarios < 2:
        return None
    interval = None
    if estimate.scenarios >= MIN_SCENARIOS:
        interval = share_interval(share, estimate.effective_trials / correction, estimate.scenarios)
    return Extrapolation(share, error * sqrt(correction), interval)


def extrapolation_text(sample: RunSample, metric: Metric, named: Sequence[tuple[str, Interval]]) -> str:
    """State the intervals in a sentence; `named` has at least one, with the name of its column."""
    listed = enumerate_names([f"{name} {format_interval(interval, metric)}" for name, interval in named])
    return f"The {measure(metric)} over all {sample.total:,} scenarios, with 95% confidence: {listed}."
