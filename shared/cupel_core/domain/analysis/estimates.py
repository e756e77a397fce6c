"""Estimates means, shares and distributions from cells, with errors clustered by scenario.

Each scenario counts once and is the unit of all intervals, because its repeats and personas are correlated. A run of
fewer than MIN_SCENARIOS scenarios says nothing about others; then the intervals are for exactly these scenarios, and
the analysis says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import DECISION_CODES, OTHER, ClusterMean, Interval, Proportion, Trials


@dataclass(frozen=True)
class MeanEstimate:
    """Estimates the mean of the codes 1-5; every scenario with a decided answer counts once."""

    answers: int
    scenarios: int
    """Scenarios count if they have a decided answer."""
    mean: float | None = None
    sd: float | None = None
    median: float | None = None
    standard_error: float | None = None
    """None for fewer than two scenarios, unless a single one has several answers."""
    interval: Interval | None = None
    """The interval has 95 % confidence, by Student's t."""


@dataclass(frozen=True)
class ShareEstimate:
    successes: int
    trials: int
    scenarios: int
    share: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """Wilson's 95 % interval with the effective number of trials."""
    effective_trials: float = 0.0
    """The number of independent trials that would say as much about scenarios like these."""


class CodeShare(NamedTuple):
    code: str
    """The code is `1`-`5` or `other`."""
    estimate: ShareEstimate


class RateBounds(NamedTuple):
    """Bounds the pass rate: if all errored probes had failed, and if all had passed (Horowitz and Manski 2000). A probe
    may error because of what it would have answered, so the remaining probes are no random sample."""

    errors_as_failures: ShareEstimate
    errors_as_passes: ShareEstimate


@dataclass(frozen=True)
class GroupEstimate:
    completed: int
    errored: int
    decision: MeanEstimate
    distribution: tuple[CodeShare, ...]
    """The shares are of answers to which the decision rule was applied, with `other` last; empty without such
    answers."""
    pass_rate: ShareEstimate
    pass_rate_bounds: RateBounds | None
    """None if no probe errored, or none was judged."""
    other_rate: ShareEstimate

    @property
    def probes(self) -> int:
        return self.completed + self.errored

    @property
    def errors_fail_rate(self) -> ShareEstimate:
        return self.pass_rate if self.pass_rate_bounds is None else self.pass_rate_bounds.errors_as_failures

    @property
    def error_rate(self) -> float | None:
        return self.errored / self.probes if self.probes else None

    def value(self, metric: Metric) -> float | None:
        match metric:
            case Metric.DECISION:
                return self.decision.mean
            case Metric.PASS_RATE:
                return self.pass_rate.share
            case Metric.PASS_RATE_ERRORS_FAIL:
                return self.errors_fail_rate.share
            case Metric.OTHER_RATE:
                return self.other_rate.share

    def scenarios(self, metric: Metric) -> int:
        match metric:
            case Metric.DECISION:
                return self.decision.scenarios
            case Metric.PASS_RATE:
                return self.pass_rate.scenarios
            case Metric.PASS_RATE_ERRORS_FAIL:
                return self.errors_fail_rate.scenarios
            case Metric.OTHER_RATE:
                return self.other_rate.scenarios


@dataclass
class Tally:
    """Sums over scenarios with one cell each; equal cells are added once with their number of scenarios."""

    _codes: ClusterMean = field(default_factory=ClusterMean)
    _shares: tuple[Proportion, ...] = field(default_factory=lambda: tuple(Proportion() for _ in range(6)))
    _passed: Proportion = field(default_factory=Proportion)
    _errors_failed: Proportion = field(default_factory=Proportion)
    _errors_passed: Proportion = field(default_factory=Proportion)
    _completed: int = 0
    _errored: int = 0

    def add(self, cell: Cell, times: int = 1) -> None:
        self._codes.add(Metric.DECISION.trials(cell), times)
        ruled = cell.ruled
        for share, number in zip(self._shares, cell, strict=False):
            share.add(Trials.of_share(ruled, number), times)
        self._completed += cell.completed * times
        self._passed.add(Metric.PASS_RATE.trials(cell), times)
        self._errored += cell.errored * times
        failed = Metric.PASS_RATE_ERRORS_FAIL.trials(cell)
        self._errors_failed.add(failed, times)
        if failed.n:
            self._errors_passed.add(Trials.of_share(failed.n, cell.passed + cell.errored), times)

    def estimate(self) -> GroupEstimate:
        shares = [share_estimate(share) for share in self._shares]
        return GroupEstimate(
            completed=self._completed,
            errored=self._errored,
            decision=self._mean(),
            distribution=tuple(map(CodeShare, (*DECISION_CODES, OTHER), shares)) if self._shares[0].clusters else (),
            pass_rate=share_estimate(self._passed),
            pass_rate_bounds=self._rate_bounds(),
            other_rate=shares[-1],
        )

    def _rate_bounds(self) -> RateBounds | None:
        if not (self._errored and self._passed.answers):
            return None
        return RateBounds(share_estimate(self._errors_failed), share_estimate(self._errors_passed))

    def _mean(self) -> MeanEstimate:
        codes = self._codes
        return MeanEstimate(
            answers=codes.answers,
            scenarios=codes.clusters,
            mean=codes.mean,
            sd=codes.sd,
            median=median([share.total for share in self._shares[:-1]]),
            standard_error=_standard_error(codes),
            interval=codes.interval_of_codes,
        )


def group_estimate(cells: Mapping[Cell, int]) -> GroupEstimate:
    tally = Tally()
    for cell, times in cells.items():
        tally.add(cell, times)
    return tally.estimate()


def share_estimate(share: Proportion) -> ShareEstimate:
    return ShareEstimate(
        successes=share.total,
        trials=share.answers,
        scenarios=share.clusters,
        share=share.mean,
        standard_error=_standard_error(share),
        interval=share.interval,
        effective_trials=share.effective_trials if share.clusters else 0.0,
    )


def _standard_error(of: ClusterMean) -> float | None:
    return of.own_error if of.clusters == 1 else of.standard_error


def median(counts: Sequence[int]) -> float | None:
    """Return the median of answers with the codes 1, 2, … that occur `counts` times; the middle two of an even number
    are averaged."""
    answers = sum(counts)
    if not answers:
        return None
    return (_code_at(counts, (answers - 1) // 2) + _code_at(counts, answers // 2)) / 2


def _code_at(counts: Sequence[int], rank: int) -> int:
    for code, number in enumerate(counts, start=1):
        rank -= number
        if rank < 0:
            return code
    raise IndexError(rank)
