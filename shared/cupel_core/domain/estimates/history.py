from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from math import exp, fsum, log1p, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.run_estimate import Basis, CallsEstimate, GraderEstimate, RunEstimate, TargetEstimate

MIN_CONVERSATIONS = 10
"""The spread of fewer conversations says little."""
MIN_SCENARIOS = 5
"""The spread of fewer scenarios says little about other scenarios."""


_UPPER = 0.975
_CONFIDENCE = 0.95
_UNKNOWN_WORST = 2.0
"""An unseen figure is assumed to be at most this many times the mean if no limit is known."""


class PastConversation(NamedTuple):
    scenario: int
    """The position of the scenario in the definition."""
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Mapping[ModelRole, float]

    @property
    def total_usd(self) -> float:
        return sum(self.usd.values())


@dataclass(frozen=True)
class ColumnHistory:
    target_id: str
    probes: int
    scenarios: Collection[int]
    """The column's probes are spread over the scenarios at these positions."""
    conversations: Sequence[PastConversation]
    run_ids: Sequence[str] = ()

    worst_usd: Mapping[ModelRole, float] = field(default_factory=dict)
    """The maximum cost of a conversation by role; roles without a known limit are missing."""

    @property
    def is_enough(self) -> bool:
        """Return whether there are enough conversations. Few scenarios are enough if the column has no others."""
        known = {each.scenario for each in self.conversations}
        has_spread = len(known) >= MIN_SCENARIOS or known.issuperset(self.scenarios)
        return len(self.conversations) >= MIN_CONVERSATIONS and has_spread

    @property
    def total_usd(self) -> EstimateInterval:
        return self.total(lambda each: each.total_usd, sum(self.worst_usd.values()))

    def role_usd(self, role: ModelRole) -> EstimateInterval:
        return self.total(lambda each: each.usd.get(role, 0.0), self.worst_usd.get(role, 0.0))

    def total(self, figure: Callable[[PastConversation], float], worst: float = 0.0) -> EstimateInterval:
        """Return the sum of a figure over the column's probes; no single figure exceeds `worst`, and 0 means no known
        limit."""
        by_scenario = defaultdict(list)
        for each in self.conversations:
            by_scenario[each.scenario].append(figure(each))
        return predicted_sum(by_scenario, self.probes, self.scenarios, worst)


def with_history(estimate: RunEstimate, columns: Sequence[ColumnHistory]) -> RunEstimate:
    """Return the estimate with the figures of earlier conversations; unchanged unless each column has enough of
    them."""
    if not columns or not all(column.is_enough for column in columns):
        return estimate
    columns = [replace(column, worst_usd=_worst_usd(estimate, column)) for column in columns]
    report = estimate.report_usd
    totals = _sum(column.total_usd for column in columns)
    return replace(
        estimate,
        usd=totals.with_same_error(EstimateInterval(report, report, report)),
        targets=tuple(_target(target, columns) for target in estimate.targets),
        graders=tuple(_grader(grader, estimate.graders, columns) for grader in estimate.graders),
        basis=Basis.HISTORY,
        history_run_ids=tuple(sorted({run_id for column in columns for run_id in column.run_ids}, reverse=True)),
    )


def _worst_usd(estimate: RunEstimate, column: ColumnHistory) -> dict[ModelRole, float]:
    """Return the maximum cost of a conversation by role, from what a budget sets aside for each call. A conversation
    has at most the assumed maximum of calls or, of the target, the maximum of any earlier conversation."""
    usd: dict[ModelRole, float] = defaultdict(float)
    for target in estimate.targets:
        if target.target_id == column.target_id:
            calls = max(target.calls.calls.high / target.probes, *(each.calls for each in column.conversations))
            usd[ModelRole.TARGET] = calls * target.calls.reserved_usd
    for grader in estimate.graders:
        if grader.role is not ModelRole.REPORT:
            usd[grader.role] += grader.calls.calls.high / estimate.probes * grader.calls.reserved_usd
    return usd


def _target(target: TargetEstimate, columns: Sequence[ColumnHistory]) -> TargetEstimate:
    own = [column for column in columns if column.target_id == target.target_id]
    calls = CallsEstimate(
        model=target.calls.model,
        calls=_sum(column.total(lambda each: each.calls) for column in own),
        input_tokens=_sum(column.total(lambda each: each.input_tokens) for column in own),
        output_tokens=_sum(column.total(lambda each: each.output_tokens) for column in own),
        usd=_sum(column.role_usd(ModelRole.TARGET) for column in own),
        reserved_usd=target.calls.reserved_usd,
    )
    samples = sum(len(column.conversations) for column in own)
    return replace(target, calls=calls, basis=Basis.HISTORY, samples=samples)


def _grader(
    grader: GraderEstimate, graders: Sequence[GraderEstimate], columns: Sequence[ColumnHistory]
) -> GraderEstimate:
    """Divide what was spent on a role among its models as they are expected to share it. Conversations do not show what
    a report costs, so that estimate is unchanged."""
    if grader.role is ModelRole.REPORT:
        return grader
    of_role = [_expected(each) for each in graders if each.role is grader.role]
    share = _expected(grader) / sum(of_role) if sum(of_role) else 1 / len(of_role)
    usd = _sum(column.role_usd(grader.role) for column in columns)
    return replace(grader, calls=replace(grader.calls, usd=usd.scaled(share)))


def _expected(grader: GraderEstimate) -> float:
    return grader.calls.usd.expected if grader.calls.usd else 0.0


def _sum(intervals: Iterable[EstimateInterval]) -> EstimateInterval:
    """Add the intervals of columns. Columns answer the same scenarios, so their costs rise and fall together: bounds
    are added, not squares."""
    return reduce(EstimateInterval.with_same_error, intervals, EstimateInterval())


class _PredictionError(NamedTuple):
    variance: float
    df: float


class _KnownFigures(NamedTuple):
    known: Mapping[int, Sequence[float]]
    shared: Collection[int]
    scenarios: int

    @property
    def unknown(self) -> int:
        return self.scenarios - len(self.shared)

    @property
    def weights(self) -> dict[int, float]:
        """Return the weight of each known scenario's mean in the predicted mean. Known scenarios represent themselves,
        and all of them together represent the unknown ones."""
        for_others = self.unknown / len(self.known)
        return {scenario: ((scenario in self.shared) + for_others) / self.scenarios for scenario in self.known}


def predicted_sum(
    known: Mapping[int, Sequence[float]], count: int, scenarios: Collection[int], worst: float = 0.0
) -> EstimateInterval:
    """Return the sum of `count` further figures, spread evenly over `scenarios`, from known figures by scenario.

    The bounds contain 95 % of runs like the known ones. There must be more than one known figure, and more than one
    known scenario unless it is the only one of `scenarios`. Costs are skewed to the right, most of all in small
    samples, so the interval covers that of a normal and that of a lognormal distribution. However equal the known
    figures are, a share of `_unseen_share` may be different: either nothing or `worst`, which no single figure exceeds.
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
    """Collect the figures. With fewer figures than scenarios, it is unknown which scenarios they have, so all count as
    unknown."""
    if count < len(scenarios):
        return _KnownFigures(known, (), count)
    return _KnownFigures(known, [scenario for scenario in known if scenario in scenarios], len(scenarios))


def _error(sample: _KnownFigures, means: Sequence[float], count: int) -> _PredictionError:
    """Return the error of the predicted mean: unknown scenarios differ from the known ones, and figures of a scenario
    differ.

    Both variances follow from the known figures. Without repeats they cannot be told apart; then the error is the
    larger one of the two extremes in which one variance is zero. The degrees of freedom are Satterthwaite's.
    """
    of_scenarios = sample.unknown / sample.scenarios**2 * (sample.unknown / len(means) + 1)
    sizes = {scenario: len(figures) for scenario, figures in sample.known.items()}
    of_figures = fsum(weight**2 / sizes[scenario] for scenario, weight in sample.weights.items()) + 1 / count
    between_df, within_df = len(means) - 1, sum(sizes.values()) - len(means)
    between = variance(means) if between_df else 0.0
    if not within_df:
        return _PredictionError(between * max(of_scenarios, of_figures), between_df)
    within = fsum(variance(each) * (len(each) - 1) for each in sample.known.values() if len(each) > 1) / within_df
    # The variance of the scenarios' means already contains a part of `within`.
    rest = max(0.0, of_figures - of_scenarios * fmean(1 / size for size in sizes.values()))
    parts = (of_scenarios * between, between_df), (rest * within, within_df)
    total = fsum(part for part, _ in parts)
    if not total:
        return _PredictionError(0.0, within_df)
    return _PredictionError(total, total**2 / fsum(part**2 / df for part, df in parts if df))


def _unseen_share(sample: _KnownFigures) -> float:
    """Return the largest share of unusual figures of which one in 20 samples would contain none.

    A whole scenario may be unlike the others, so known scenarios are counted instead of their figures, as far as there
    are unknown scenarios.
    """
    of_scenarios = min(_largest_unseen(len(sample.known)), sample.unknown / sample.scenarios)
    return max(of_scenarios, _largest_unseen(sum(map(len, sample.known.values()))))


def _largest_unseen(known: int) -> float:
    """Return a share of about three out of `known`."""
    return float(1 - (1 - _CONFIDENCE) ** (1 / known))
