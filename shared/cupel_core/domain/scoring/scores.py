from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counts import Cell, RunCounts
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, derive
from cupel_core.domain.statistics import Interval, Proportion, Trials, mean, pass_at_k, pass_hat_k, standard_error


@dataclass(frozen=True)
class ScenarioScores:
    """Contains scores of one scenario and column. pass@k and pass^k are means over its cases with at least k
    results."""

    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    pass_at_k: float | None
    pass_hat_k: float | None


class ScenarioScoresView(NamedTuple):
    scores: ScenarioScores
    scenario_id: str
    column: Column
    scenario_name: str | None
    """The name at the run's start."""


class MeanOfScenarios(NamedTuple):
    """Contains the mean of a figure over the scenarios that have it; None if none has. The error is None if only one
    has."""

    mean: float | None
    standard_error: float | None
    scenarios: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self:
        known = [value for value in values if value is not None]
        return cls(mean(known), standard_error(known), len(known))


@dataclass(frozen=True)
class ColumnScores:
    """`mean` is the mean of the scenarios' shares of successes, and its error is that for scenarios like these."""

    column: int
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    interval: Interval | None
    mean_score: float | None
    pass_at_k: MeanOfScenarios
    pass_hat_k: MeanOfScenarios
    scenarios: int
    """Includes the scenarios without enough results for pass@k and pass^k."""
    metrics: Mapping[str, float]
    tags: Mapping[str, int]
    totals: ColumnTotals
    """The figures are computed from these totals, which also have the causes of unscored answers."""


class NumberedScores(NamedTuple):
    position: int
    scores: ScenarioScores


def scenario_scores(column: int, counts: RunCounts, k: int) -> Iterator[NumberedScores]:
    for position, scenario in enumerate(counts.scenarios):
        cells = counts.cells_of_cases(column, scenario)
        if any(cell.completed for cell in cells):
            yield NumberedScores(position, _scenario(cells, k))


def _scenario(cells: Sequence[Cell], k: int) -> ScenarioScores:
    judged, successes = sum(cell.judged for cell in cells), sum(cell.passed for cell in cells)
    scenario = Proportion()
    scenario.add(Trials.of_share(judged, successes))
    return ScenarioScores(
        judged=judged,
        successes=successes,
        unscored=sum(cell.completed for cell in cells) - judged,
        mean=scenario.mean,
        standard_error=scenario.own_error,
        pass_at_k=_mean_of(pass_at_k(cell.judged, cell.passed, k) for cell in cells),
        pass_hat_k=_mean_of(pass_hat_k(cell.judged, cell.passed, k) for cell in cells),
    )


def _mean_of(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def column_scores(column: int, counts: RunCounts, k: int, derived: Sequence[DerivedMetric] = ()) -> ColumnScores:
    """Return the scores of one column, with its derived metrics.

    pass@k and pass^k are means over the scenarios that have them (Chen et al. 2021). Scenarios with fewer than k
    results are left out; they are often the hard ones if conversations errored, so their number belongs to the figures.
    """
    scenarios = [each.scores for each in scenario_scores(column, counts, k)]
    share, totals = Proportion(), counts.totals.column(column)
    for scenario in scenarios:
        share.add(Trials.of_share(scenario.judged, scenario.successes))
    unscored = sum(scenario.unscored for scenario in scenarios)
    metrics = dict(sorted(totals.metrics.items()))
    means = {name: total.mean for name, total in metrics.items() if total.mean is not None}
    return ColumnScores(
        column=column,
        judged=share.answers,
        successes=share.total,
        unscored=unscored,
        mean=share.mean,
        standard_error=share.standard_error,
        interval=share.interval,
        mean_score=totals.score.mean,
        pass_at_k=MeanOfScenarios.of(scenario.pass_at_k for scenario in scenarios),
        pass_hat_k=MeanOfScenarios.of(scenario.pass_hat_k for scenario in scenarios),
        scenarios=len(counts.scenarios),
        metrics=means | derive(derived, totals.metric_sums, share.answers + unscored),
        tags=dict(totals.tags.most_common()),
        totals=totals,
    )


@dataclass(frozen=True)
class Scores:
    """Contains the scores of a run, or of a rescore, by column; `k` is that of pass@k and pass^k."""

    run: Run
    k: int
    columns: tuple[ColumnScores, ...]
    messages: Mapping[int, str]
    """Each probe that is an example of unscored ones has the error of its check."""
