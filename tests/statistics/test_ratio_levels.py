"""How often the intervals of ratios of times and costs contain the true ratio, and how often equal sides are called
different, by simulation. The figures are in docs/statistics.md.

Scenarios differ by factors: their sizes are log-normal, or have a Pareto tail. A scenario's own ratio differs from the
true one by a log-normal factor, and so do its answers.
"""

from collections.abc import Callable
from math import exp, log
from random import Random

import pytest

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedCase, MatchedScenario, SideColumn
from cupel_core.domain.analysis.paired_ratios import RatioEstimate
from cupel_core.domain.analysis.target_usage import TargetUsage
from cupel_core.domain.analysis.usage_ratios import RowNames, UsageComparison
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import Target
from tests.statistics.simulations import share

TRIALS = 2_000
"""The standard error of a coverage of 0.95 is 0.005."""
RATIO = 1.3
BETWEEN, WITHIN = 0.3, 0.5
"""Standard deviations of the logarithms of scenarios' own ratios, and of the answers to a scenario."""
PICO = 10**12
PAIR = ColumnPair((SideColumn(0, Column(Target("sim/a"))),), (SideColumn(0, Column(Target("sim/b"))),))

type Draw = Callable[[Random], float]


def lognormal(deviation: float) -> Draw:
    return lambda rng: rng.lognormvariate(0.0, deviation)


def pareto(rng: Random) -> float:
    """Its variance is infinite."""
    return rng.paretovariate(1.5)


SIZES: dict[str, Draw] = {
    "log-normal, sd 1": lognormal(1.0),
    "log-normal, sd 1.5": lognormal(1.5),
    "Pareto 1.5": pareto,
}


def estimate_of(
    measure: UsageMeasure, size: Draw, scenarios: int, repeats: tuple[int, int], ratio: float, rng: Random
) -> RatioEstimate:
    sizes = [size(rng) for _ in range(scenarios)]
    changes = [ratio * rng.lognormvariate(0.0, BETWEEN) for _ in range(scenarios)]
    before = [usage(each, repeats[0], rng) for each in sizes]
    after = [usage(each * change, repeats[1], rng) for each, change in zip(sizes, changes, strict=True)]
    common = [MatchedScenario(str(n), "", (MatchedCase((n,), (n,)),)) for n in range(scenarios)]
    compared = UsageComparison([PAIR], [RowNames("b", "a")], side("run_a", before), side("run_b", after), common, 0.05)
    return compared.ratios(measure)[0].estimate


def usage(mean: float, repeats: int, rng: Random) -> TargetUsage:
    amounts = [mean * rng.lognormvariate(0.0, WITHIN) for _ in range(repeats)]
    logarithms = [log(1_000 * each) for each in amounts]
    return TargetUsage(repeats, round(sum(amounts) * PICO), round(sum(logarithms) * PICO))


def side(run_id: str, usages: list[TargetUsage]) -> ComparisonSide:
    return ComparisonSide(run_id, (), (), lambda *_: Cell(), usage=lambda _, case: usages[case])


def covers(estimate: RatioEstimate, ratio: float) -> bool:
    assert estimate.interval is not None
    return estimate.interval.low <= ratio <= estimate.interval.high


@pytest.mark.parametrize("measure", UsageMeasure)
@pytest.mark.parametrize("scenarios", [5, 10, 20, 50])
@pytest.mark.parametrize("sizes", SIZES)
def test_intervals_contain_the_true_ratio(measure: UsageMeasure, scenarios: int, sizes: str) -> None:
    covered = share(
        TRIALS, 48, lambda rng: covers(estimate_of(measure, SIZES[sizes], scenarios, (3, 3), RATIO, rng), RATIO)
    )
    print(f"coverage of the ratio, {measure}: {scenarios} scenarios, {sizes}: {covered:.3f}")
    assert 0.935 <= covered <= 0.965


@pytest.mark.parametrize("measure", UsageMeasure)
@pytest.mark.parametrize("scenarios", [5, 20, 50])
def test_equal_sides_are_rarely_called_different(measure: UsageMeasure, scenarios: int) -> None:
    draw = SIZES["Pareto 1.5"]
    wrong = share(TRIALS, 7, lambda rng: (estimate_of(measure, draw, scenarios, (1, 1), 1.0, rng).p or 1) < 0.05)
    print(f"false positives of ratios, {measure}: {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.065


@pytest.mark.parametrize("measure", UsageMeasure)
def test_different_numbers_of_repeats_distort_costs_and_not_times(measure: UsageMeasure) -> None:
    """The logarithm of a mean of few answers is too small on average, by half of the answers' relative variance."""
    rng = Random(3)
    draw = SIZES["log-normal, sd 1"]
    ratios = [estimate_of(measure, draw, 50, (1, 10), 1.0, rng).ratio or 0.0 for _ in range(TRIALS)]
    mean = exp(sum(map(log, ratios)) / TRIALS)
    print(f"mean ratio of equal sides with 1 and 10 repeats, {measure}: {mean:.3f}")
    assert mean == pytest.approx(1.0 if measure is UsageMeasure.TIME else 1.12, abs=0.02)
