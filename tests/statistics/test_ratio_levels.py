"""How often the intervals of ratios of costs and times contain the true ratio, and how often equal sides are called
different, by simulation. The figures are in docs/statistics.md.

The sizes of scenarios are log-normal or have a Pareto tail. They cancel in the ratios, so what matters are the
scenarios' own ratios, and the answers, whose spread and number differ between the sides.
"""

from collections.abc import Callable
from math import exp, log, sqrt
from random import Random
from typing import NamedTuple

import pytest

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedCase, MatchedScenario, SideColumn
from cupel_core.domain.analysis.target_usage import TargetUsage
from cupel_core.domain.analysis.usage_ratios import RatioEstimate, RowNames, UsageComparison
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import Target
from tests.statistics.simulations import share

TRIALS = 2_000
"""The standard error of a coverage of 0.95 is 0.005."""
RATIO = 1.3
BETWEEN = 0.3
"""The standard deviation of the logarithms of scenarios' own ratios."""
EXPENSIVE_SHARE, EXPENSIVE_FACTOR = 0.05, 10.0
PICO = 10**12
PAIR = ColumnPair((SideColumn(0, Column(Target("sim/a"))),), (SideColumn(0, Column(Target("sim/b"))),))


class Answers(NamedTuple):
    """The answers of a side to each scenario: their number, and the standard deviation of their logarithms."""

    repeats: int
    spread: float


STEADY = Answers(3, 0.1), Answers(1, 0.2)
"""They hide little of how the scenarios' ratios are distributed."""
UNEVEN = Answers(10, 0.2), Answers(1, 0.8)
"""A mean cost of a scenario would be biased by these."""


class Ratios(NamedTuple):
    """How the scenarios' own ratios are distributed."""

    draw: Callable[[float, Random], float]
    """It returns the logarithm of the ratio of a scenario whose size has this logarithm."""
    mean: float = 0.0
    """That of the logarithms."""


def log_normal(_: float, rng: Random) -> float:
    return rng.gauss(0.0, BETWEEN)


def some_expensive(_: float, rng: Random) -> float:
    return rng.gauss(0.0, BETWEEN) + log(EXPENSIVE_FACTOR) * (rng.random() < EXPENSIVE_SHARE)


def heavy_tailed(_: float, rng: Random) -> float:
    """Draw from Student's t with three degrees of freedom."""
    return BETWEEN * rng.gauss(0.0, 1.0) / sqrt(rng.gammavariate(1.5, 2.0) / 3)


def growing_with_size(log_size: float, rng: Random) -> float:
    return rng.gauss(0.0, BETWEEN) + BETWEEN * log_size


RATIOS = {
    "log-normal": Ratios(log_normal),
    "heavy-tailed": Ratios(heavy_tailed),
    "growing with size": Ratios(growing_with_size),
    "some expensive": Ratios(some_expensive, EXPENSIVE_SHARE * log(EXPENSIVE_FACTOR)),
}


def log_of_size(rng: Random) -> float:
    return rng.gauss(0.0, 1.0)


def log_of_pareto(rng: Random) -> float:
    """The variance of such a size is infinite."""
    return log(rng.paretovariate(1.5))


def estimate_of(
    ratios: Ratios,
    scenarios: int,
    rng: Random,
    answers: tuple[Answers, Answers] = STEADY,
    log_size: Callable[[Random], float] = log_of_size,
    ratio: float = RATIO,
) -> RatioEstimate:
    sizes = [log_size(rng) for _ in range(scenarios)]
    before = [usage(each, answers[0], rng) for each in sizes]
    after = [usage(each + log(ratio) + ratios.draw(each, rng), answers[1], rng) for each in sizes]
    common = [MatchedScenario(str(n), "", (MatchedCase((n,), (n,)),)) for n in range(scenarios)]
    compared = UsageComparison([PAIR], [RowNames("b", "a")], side("run_a", before), side("run_b", after), common, 0.05)
    return compared.ratios(UsageMeasure.COST)[0].estimate


def usage(log_size: float, answers: Answers, rng: Random) -> TargetUsage:
    """Times are compared like costs."""
    logarithms = [rng.gauss(log_size, answers.spread) for _ in range(answers.repeats)]
    usd = sum(map(exp, logarithms))
    log_sum = round((sum(logarithms) + answers.repeats * log(PICO)) * PICO)
    return TargetUsage(answers.repeats, round(usd * PICO), log_sum, log_sum)


def side(run_id: str, usages: list[TargetUsage]) -> ComparisonSide:
    return ComparisonSide(run_id, (), (), lambda *_: Cell(), usage=lambda _, case: usages[case])


def covers(estimate: RatioEstimate, ratio: float) -> bool:
    assert estimate.interval is not None
    return estimate.interval.low <= ratio <= estimate.interval.high


def is_called_different(estimate: RatioEstimate) -> bool:
    return estimate.p is not None and estimate.p < 0.05


@pytest.mark.parametrize("scenarios", [5, 10, 20, 50])
@pytest.mark.parametrize("name", RATIOS)
def test_intervals_contain_the_true_ratio_unless_a_few_scenarios_decide(name: str, scenarios: int) -> None:
    ratios = RATIOS[name]
    truth = RATIO * exp(ratios.mean)
    covered = share(TRIALS, 48, lambda rng: covers(estimate_of(ratios, scenarios, rng), truth))
    print(f"coverage of the ratio: {scenarios} scenarios, {name}: {covered:.3f}")
    assert (0.90 if name == "some expensive" else 0.935) <= covered <= 0.97


@pytest.mark.parametrize("scenarios", [5, 20, 50])
def test_equal_sides_are_rarely_called_different(scenarios: int) -> None:
    def is_wrong(rng: Random) -> bool:
        return is_called_different(estimate_of(RATIOS["log-normal"], scenarios, rng, UNEVEN, log_of_pareto, 1.0))

    wrong = share(TRIALS, 7, is_wrong)
    print(f"false positives of ratios: {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.065


def test_unequal_repeats_and_spreads_do_not_distort_the_ratio() -> None:
    rng = Random(3)
    estimates = [estimate_of(RATIOS["log-normal"], 50, rng, UNEVEN, ratio=1.0) for _ in range(TRIALS // 4)]
    mean = exp(sum(log(each.ratio or 0.0) for each in estimates) / len(estimates))
    print(f"mean ratio of equal sides: {mean:.3f}")
    assert mean == pytest.approx(1.0, abs=0.01)
