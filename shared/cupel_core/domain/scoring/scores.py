"""Aggregates a run's results by scenario and column, and by column, in one streaming pass."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, derive
from cupel_core.domain.statistics import Cluster, Interval, Proportion, mean, pass_at_k, pass_hat_k


class ScoredResult(NamedTuple):
    """One transcript's result. Results of one case, and cases of one scenario, must be consecutive."""

    probe_index: int
    case: int
    """Index of the case: a scenario with one of its personas, or with none."""
    column: int
    """Number of the column in the run's plan."""
    scenario_id: str
    success: bool | None
    """None if nothing was judged, or if it could not be computed."""
    score: float | None = None
    metrics: Mapping[str, float] = {}
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class ScenarioScores:
    """Scores of one scenario and one column. pass@k and pass^k are means over its cases with at least k results."""

    scenario_id: str
    column: int
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    pass_at_k: float | None
    pass_hat_k: float | None
    first_index: int
    """Lowest index of the probes it is computed from."""


class ScenarioScoresView(NamedTuple):
    scores: ScenarioScores
    column: Column
    scenario_name: str | None
    """As it was at the run's start."""


@dataclass(frozen=True)
class ColumnScores:
    """`mean` is the share of successes; its error is clustered by scenario, because repeats are not independent."""

    column: int
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    interval: Interval | None
    mean_score: float | None
    pass_at_k: float | None
    pass_hat_k: float | None
    metrics: Mapping[str, float]
    tags: Mapping[str, int]


def scenario_scores(results: Iterable[ScoredResult], k: int) -> Iterator[ScenarioScores]:
    """Scores of each scenario and column, in the order of the results."""
    for (column, scenario_id), group in groupby(results, key=lambda result: (result.column, result.scenario_id)):
        yield _scenario(column, scenario_id, list(group), k)


def _scenario(column: int, scenario_id: str, results: list[ScoredResult], k: int) -> ScenarioScores:
    # Within one scenario, each result is an independent trial.
    trials = Proportion()
    for result in results:
        if result.success is not None:
            trials.add(Cluster(1, int(result.success)))
    cases = [_cluster(group) for _, group in groupby(results, key=lambda result: result.case)]
    return ScenarioScores(
        scenario_id=scenario_id,
        column=column,
        judged=trials.trials,
        successes=trials.successes,
        unscored=len(results) - trials.trials,
        mean=trials.mean,
        standard_error=trials.standard_error,
        pass_at_k=_mean_of(pass_at_k(*case, k) for case in cases),
        pass_hat_k=_mean_of(pass_hat_k(*case, k) for case in cases),
        first_index=results[0].probe_index,
    )


def _cluster(results: Iterable[ScoredResult]) -> Cluster:
    judged = [result.success for result in results if result.success is not None]
    return Cluster(len(judged), sum(judged))


def _mean_of(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.total += value
            self.count += 1

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass
class _RunningTotals:
    """Running totals of one column, of constant size."""

    share: Proportion = field(default_factory=Proportion)
    unscored: int = 0
    score: _Mean = field(default_factory=_Mean)
    at_k: _Mean = field(default_factory=_Mean)
    hat_k: _Mean = field(default_factory=_Mean)
    metrics: dict[str, _Mean] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)

    def add_result(self, result: ScoredResult) -> ScoredResult:
        self.tags.update(result.tags)
        for name, value in result.metrics.items():
            self.metrics.setdefault(name, _Mean()).add(value)
        if result.success is not None:
            self.score.add(result.score)
        return result

    @property
    def mean_metrics(self) -> dict[str, float]:
        return {name: metric.value for name, metric in sorted(self.metrics.items()) if metric.value is not None}

    def derived(self, metrics: Sequence[DerivedMetric]) -> dict[str, float]:
        sums = {name: metric.total for name, metric in self.metrics.items()}
        return derive(metrics, sums, self.share.trials + self.unscored)

    def add_scenario(self, scenario: ScenarioScores) -> None:
        self.share.add(Cluster(scenario.judged, scenario.successes))
        self.unscored += scenario.unscored
        self.at_k.add(scenario.pass_at_k)
        self.hat_k.add(scenario.pass_hat_k)


def column_scores(
    column: int, results: Iterable[ScoredResult], k: int, derived: Sequence[DerivedMetric] = ()
) -> ColumnScores:
    """Scores of one column, with its derived metrics.

    pass@k and pass^k are means over the scenarios that have them (Chen et al. 2021).
    """
    totals = _RunningTotals()
    for scenario in scenario_scores(map(totals.add_result, results), k):
        totals.add_scenario(scenario)
    share = totals.share
    return ColumnScores(
        column=column,
        judged=share.trials,
        successes=share.successes,
        unscored=totals.unscored,
        mean=share.mean,
        standard_error=share.standard_error,
        interval=share.interval,
        mean_score=totals.score.value,
        pass_at_k=totals.at_k.value,
        pass_hat_k=totals.hat_k.value,
        metrics=totals.mean_metrics | totals.derived(derived),
        tags=dict(totals.tags.most_common()),
    )


@dataclass(frozen=True)
class Scores:
    """The scores of a run, or of a rescore, by column; `k` is that of pass@k and pass^k."""

    run: Run
    k: int
    columns: tuple[ColumnScores, ...]
