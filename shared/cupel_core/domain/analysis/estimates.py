"""Estimates from cells: means, shares and distributions, with errors clustered by scenario.

The scenario is the unit of all intervals: its repeats and personas are correlated. A run of a single scenario says
nothing about others; then its answers are the units, and the analysis says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import sqrt
from typing import NamedTuple

from cupel_core.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.analysis.metrics import Metric, Trials
from cupel_core.domain.statistics import DECISION_CODES, OTHER, Cluster, Interval, Proportion, wilson_interval

MIN_SCENARIOS = 5
"""With fewer, a t interval is several times wider than the spread of the scenarios, or of their differences, and says
nothing."""
_CONFIDENCE = 0.975


@dataclass(frozen=True)
class MeanEstimate:
    """The mean of the codes 1-5; every decided answer counts once."""

    answers: int
    scenarios: int
    """With a decided answer."""
    mean: float | None = None
    sd: float | None = None
    """Of the answers."""
    median: float | None = None
    standard_error: float | None = None
    """None for fewer than two units."""
    interval: Interval | None = None
    """Of 95 %, by Student's t; None for fewer than MIN_SCENARIOS units."""


@dataclass(frozen=True)
class ShareEstimate:
    """A share of trials, such as a pass rate."""

    successes: int
    trials: int
    scenarios: int
    share: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """Of 95 %, Wilson's with the effective number of trials."""
    effective_trials: float = 0.0
    """Independent ones with the same variance."""


class CodeShare(NamedTuple):
    code: str
    """`1`-`5` or `other`."""
    estimate: ShareEstimate


@dataclass(frozen=True)
class GroupEstimate:
    """The estimates of some scenarios."""

    completed: int
    errored: int
    decision: MeanEstimate
    distribution: tuple[CodeShare, ...]
    """Shares of the answers to which the decision rule was applied, `other` last; empty without such answers."""
    pass_rate: ShareEstimate
    other_rate: ShareEstimate

    @property
    def probes(self) -> int:
        """With an outcome."""
        return self.completed + self.errored

    @property
    def error_rate(self) -> float | None:
        return self.errored / self.probes if self.probes else None

    def value(self, metric: Metric) -> float | None:
        match metric:
            case Metric.DECISION:
                return self.decision.mean
            case Metric.PASS_RATE:
                return self.pass_rate.share
            case Metric.OTHER_RATE:
                return self.other_rate.share

    def scenarios(self, metric: Metric) -> int:
        """The scenarios that have a value."""
        match metric:
            case Metric.DECISION:
                return self.decision.scenarios
            case Metric.PASS_RATE:
                return self.pass_rate.scenarios
            case Metric.OTHER_RATE:
                return self.other_rate.scenarios


@dataclass
class _CodeSums:
    """Whole-number sums over scenarios, from which mean and clustered standard error follow without rounding."""

    scenarios: int = 0
    answers: int = 0
    total: int = 0
    squares: int = 0
    _totals_squared: int = 0
    _products: int = 0
    _sizes_squared: int = 0

    def add(self, trials: Trials, times: int) -> None:
        n, total, squares = trials
        if not n:
            return
        self.scenarios += times
        self.answers += n * times
        self.total += total * times
        self.squares += squares * times
        self._totals_squared += total * total * times
        self._products += total * n * times
        self._sizes_squared += n * n * times

    @property
    def sd(self) -> float | None:
        if self.answers < 2:
            return None
        n = self.answers
        return sqrt((n * self.squares - self.total**2) / (n * (n - 1)))

    @property
    def standard_error(self) -> float | None:
        """Equal to `clustered_standard_error`."""
        if self.scenarios < 2:
            sd = self.sd
            return None if sd is None else sd / sqrt(self.answers)
        n, total = self.answers, self.total
        residuals = n * n * self._totals_squared - 2 * n * total * self._products + total * total * self._sizes_squared
        return sqrt(residuals * self.scenarios / (self.scenarios - 1)) / (n * n)

    @property
    def units(self) -> int:
        """Scenarios, or the answers of a single one."""
        return self.scenarios if self.scenarios != 1 else self.answers


@dataclass
class Tally:
    """Sums over scenarios, one cell each; a cell that several scenarios have is added with their number."""

    _codes: _CodeSums = field(default_factory=_CodeSums)
    _shares: tuple[Proportion, ...] = field(default_factory=lambda: tuple(Proportion() for _ in range(6)))
    _passed: Proportion = field(default_factory=Proportion)
    _completed: int = 0
    _errored: int = 0

    def add(self, cell: Cell, times: int = 1) -> None:
        self._codes.add(Metric.DECISION.trials(cell), times)
        ruled = cell.ruled
        for share, number in zip(self._shares, cell, strict=False):
            share.add(Cluster(ruled, number), times)
        self._completed += cell.completed * times
        self._passed.add(Cluster(cell.judged, cell.passed), times)
        self._errored += cell.errored * times

    def estimate(self) -> GroupEstimate:
        shares = [share_estimate(share) for share in self._shares]
        return GroupEstimate(
            completed=self._completed,
            errored=self._errored,
            decision=self._mean(),
            distribution=tuple(map(CodeShare, (*DECISION_CODES, OTHER), shares)) if self._shares[0].trials else (),
            pass_rate=share_estimate(self._passed),
            other_rate=shares[-1],
        )

    def _mean(self) -> MeanEstimate:
        codes = self._codes
        if not codes.answers:
            return MeanEstimate(0, 0)
        mean, error = codes.total / codes.answers, codes.standard_error
        return MeanEstimate(
            answers=codes.answers,
            scenarios=codes.scenarios,
            mean=mean,
            sd=codes.sd,
            median=median([share.successes for share in self._shares[:-1]]),
            standard_error=error,
            interval=t_interval(mean, error, codes.units, Interval(1, 5)),
        )


def group_estimate(cells: Mapping[Cell, int]) -> GroupEstimate:
    """Of scenarios, from how many have each cell."""
    tally = Tally()
    for cell, times in cells.items():
        tally.add(cell, times)
    return tally.estimate()


def t_interval(mean: float, standard_error: float | None, units: int, limits: Interval) -> Interval | None:
    """The 95 % interval of a mean of so many units, cut to the limits; None for fewer than MIN_SCENARIOS."""
    if standard_error is None or units < MIN_SCENARIOS:
        return None
    reach = t_quantile(_CONFIDENCE, units - 1) * standard_error
    return Interval(max(limits.low, mean - reach), min(limits.high, mean + reach))


def share_estimate(share: Proportion) -> ShareEstimate:
    """With one scenario, its trials are the units."""
    if share.clusters == 1:
        p, n = share.successes / share.trials, share.trials
        error = sqrt(p * (1 - p) / n) if n > 1 else None
        interval = wilson_interval(share.successes, n) if n > 1 else None
        return ShareEstimate(share.successes, n, 1, p, error, interval, n)
    effective = share.effective_trials if share.trials else 0.0
    return ShareEstimate(
        share.successes, share.trials, share.clusters, share.mean, share.standard_error, share.interval, effective
    )


def median(counts: Sequence[int]) -> float | None:
    """Of answers with the codes 1, 2, …, as often as `counts` says; the mean of the middle two of an even number."""
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
