"""What a run of a sample of the scenarios says about a run of all of them.

Two figures must not be mixed: an estimate for scenarios like these, whose error does not depend on how many there
are, and one for exactly the definition's scenarios, of which those that were run are known already. The error of the
second is smaller by the finite population correction (Cochran, Sampling Techniques, 1977, section 2.6), and zero once
all were run. Only of scenarios that were drawn at random anything follows for the others.
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
    """The scenarios of a run, of those that its definition has."""

    scenarios: int
    total: int
    seed: int
    probes_to_add: int = 0
    """By an expansion to all scenarios."""
    is_drawn: bool = True
    """At random. Otherwise the run has all scenarios, or those that an eval names."""

    @property
    def is_partial(self) -> bool:
        """Whether its scenarios were drawn, and do not happen to be all."""
        return self.is_drawn and self.scenarios < self.total

    def correction(self, answered: int) -> float:
        """Of variances, if so many scenarios are known."""
        return 1 - answered / self.total

    @property
    def note(self) -> str | None:
        """For every reader of a sampled run's figures; None for any other run."""
        if not self.is_partial:
            return None
        share = 100 * self.scenarios / self.total
        percentage = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
        return f"Based on {percentage}% of the scenarios ({self.scenarios:,} of {self.total:,}, seed {self.seed})."

    @property
    def expansion(self) -> str | None:
        """What it takes to know the others; None if there are none."""
        if not (self.is_partial and self.probes_to_add):
            return None
        return f"An expansion to all scenarios adds {count_of(self.probes_to_add, 'probe')}."


def drawn_sample(scenarios: int, total: int, seed: int, plan: Plan, total_cases: int | None) -> RunSample:
    """A sample of so many scenarios. `total_cases` are those of all scenarios with their personas, if they are known;
    otherwise the others are taken to have as many as those that were drawn."""
    cases = total_cases
    if cases is None:
        cases = round(plan.cases * total / scenarios) if scenarios else plan.cases
    return RunSample(scenarios, total, seed, max(0, cases - plan.cases) * len(plan.columns) * plan.repeats)


class Extrapolation(NamedTuple):
    """The figure that a run of all scenarios would show, with a 95% interval."""

    value: float
    standard_error: float
    interval: Interval | None
    """None for fewer than MIN_SCENARIOS scenarios."""


class GroupExtrapolation(NamedTuple):
    """Each is None if nothing follows for the other scenarios."""

    decision: Extrapolation | None
    pass_rate: Extrapolation | None

    def of(self, metric: Metric) -> Extrapolation | None:
        return self.decision if metric is Metric.DECISION else self.pass_rate


def extrapolate(estimate: GroupEstimate, sample: RunSample | None) -> GroupExtrapolation | None:
    """What a run of all scenarios would show in place of these estimates. None for a run that is no sample."""
    if sample is None or not sample.is_partial:
        return None
    return GroupExtrapolation(
        extrapolate_mean(estimate.decision, sample), extrapolate_share(estimate.pass_rate, sample)
    )


def extrapolate_mean(estimate: MeanEstimate, sample: RunSample) -> Extrapolation | None:
    """Student's t; only scenarios with an answer are known. A single one says nothing about others."""
    if estimate.mean is None or estimate.standard_error is None or estimate.scenarios < 2:
        return None
    error = estimate.standard_error * sqrt(sample.correction(estimate.scenarios))
    interval = None
    if estimate.scenarios >= MIN_SCENARIOS:
        interval = t_interval(estimate.mean, error, estimate.scenarios - 1, Interval(1, 5))
    return Extrapolation(estimate.mean, error, interval)


def extrapolate_share(estimate: ShareEstimate, sample: RunSample) -> Extrapolation | None:
    """Wilson's interval, with as many more effective trials as the variance is smaller."""
    share, error, correction = estimate.share, estimate.standard_error, sample.correction(estimate.scenarios)
    if share is None or error is None or estimate.scenarios < 2:
        return None
    interval = None
    if estimate.scenarios >= MIN_SCENARIOS:
        interval = share_interval(share, estimate.effective_trials / correction, estimate.scenarios)
    return Extrapolation(share, error * sqrt(correction), interval)


def extrapolation_text(sample: RunSample, metric: Metric, named: Sequence[tuple[str, Interval]]) -> str:
    """`named` are the intervals by the names of their columns; there is at least one."""
    listed = enumerate_names([f"{name} {format_interval(interval, metric)}" for name, interval in named])
    return f"The {measure(metric)} over all {sample.total:,} scenarios, with 95% confidence: {listed}."
