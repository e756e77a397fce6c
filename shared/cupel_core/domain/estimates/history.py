"""Estimates from conversations that were held before: their mean, and how much they differ."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import exp, log1p, sqrt
from statistics import fmean, variance
from typing import NamedTuple

from cupel_core.deferred import dataclass
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.run_estimate import (
    Basis,
    CallsEstimate,
    GraderEstimate,
    RunEstimate,
    TargetEstimate,
)
from cupel_core.domain.turns.roles import ModelRole

MIN_CONVERSATIONS = 10
"""Of fewer, the deviation says little."""
_UPPER = 0.975
_CONFIDENCE = 0.95


class PastConversation(NamedTuple):
    calls: int
    """Of the target."""
    input_tokens: int
    output_tokens: int
    usd: Mapping[ModelRole, float]

    @property
    def total_usd(self) -> float:
        return sum(self.usd.values())


@dataclass(frozen=True)
class ColumnHistory:
    """Conversations of a target and prompt that are like those of a column."""

    target_id: str
    probes: int
    """That the column has."""
    conversations: Sequence[PastConversation]
    run_ids: Sequence[str] = ()
    """They are from these runs."""

    def total(self, figures: Iterable[float]) -> EstimateInterval:
        """Of the column's probes, if each of the conversations held had this figure."""
        return predicted_sum(list(figures), self.probes)


def predicted_sum(figures: Sequence[float], count: int) -> EstimateInterval:
    """Of `count` further figures like these, of which there are at least two.

    Its variance is that of the further figures and that of the mean of these. Costs are skewed to the right, most of
    all in small samples: the interval holds that of a normal and that of a lognormal distribution. However equal the
    figures are, a share of `unseen_share` may be different, and then be nothing or twice as much.
    """
    known = len(figures)
    expected = count * fmean(figures)
    deviation = sqrt(variance(figures) * (count + count**2 / known))
    if not expected:
        return EstimateInterval(0.0, 0.0, t_quantile(_UPPER, known - 1) * deviation)
    t, unseen = t_quantile(_UPPER, known - 1), expected * unseen_share(known)
    factor = exp(t * sqrt(log1p((deviation / expected) ** 2)))
    low = min(expected - t * deviation, expected / factor, expected - unseen)
    high = max(expected + t * deviation, expected * factor, expected + unseen)
    return EstimateInterval(max(0.0, low), expected, high)


def unseen_share(known: int) -> float:
    """The largest share of conversations unlike all these, of which none would be seen in one of 20 samples: about
    three of `known`."""
    return float(1 - (1 - _CONFIDENCE) ** (1 / known))


def with_history(estimate: RunEstimate, columns: Sequence[ColumnHistory]) -> RunEstimate:
    """The estimate with the figures of conversations held before. Unchanged unless there are enough for each column."""
    if not columns or any(len(column.conversations) < MIN_CONVERSATIONS for column in columns):
        return estimate
    totals = _sum(column.total(each.total_usd for each in column.conversations) for column in columns)
    report = estimate.report_usd
    totals = totals.with_same_error(EstimateInterval(report, report, report))
    return replace(
        estimate,
        usd=totals,
        targets=tuple(_target(target, columns) for target in estimate.targets),
        graders=tuple(_grader(grader, estimate.graders, columns) for grader in estimate.graders),
        basis=Basis.HISTORY,
        history_run_ids=tuple(sorted({run_id for column in columns for run_id in column.run_ids}, reverse=True)),
    )


def _target(target: TargetEstimate, columns: Sequence[ColumnHistory]) -> TargetEstimate:
    own = [column for column in columns if column.target_id == target.target_id]
    calls = CallsEstimate(
        model=target.calls.model,
        calls=_sum(column.total(each.calls for each in column.conversations) for column in own),
        input_tokens=_sum(column.total(each.input_tokens for each in column.conversations) for column in own),
        output_tokens=_sum(column.total(each.output_tokens for each in column.conversations) for column in own),
        usd=_role_usd(ModelRole.TARGET, own),
        reserved_usd=target.calls.reserved_usd,
    )
    samples = sum(len(column.conversations) for column in own)
    return replace(target, calls=calls, basis=Basis.HISTORY, samples=samples)


def _grader(
    grader: GraderEstimate, graders: Sequence[GraderEstimate], columns: Sequence[ColumnHistory]
) -> GraderEstimate:
    """What was spent on its role, shared among the models of the role as they are expected to share it. No conversation
    says what a report costs."""
    if grader.role is ModelRole.REPORT:
        return grader
    of_role = [_expected(each) for each in graders if each.role is grader.role]
    share = _expected(grader) / sum(of_role) if sum(of_role) else 1 / len(of_role)
    usd = _role_usd(grader.role, columns)
    return replace(grader, calls=replace(grader.calls, usd=usd.scaled(share)))


def _expected(grader: GraderEstimate) -> float:
    return grader.calls.usd.expected if grader.calls.usd else 0.0


def _role_usd(role: ModelRole, columns: Sequence[ColumnHistory]) -> EstimateInterval:
    return _sum(column.total(each.usd.get(role, 0.0) for each in column.conversations) for column in columns)


def _sum(intervals: Iterable[EstimateInterval]) -> EstimateInterval:
    """Columns answer the same scenarios, so their costs rise and fall together: bounds are added, not squares."""
    return reduce(EstimateInterval.with_same_error, intervals, EstimateInterval())
