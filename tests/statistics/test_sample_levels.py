"""How often the intervals of a mean and of a pass rate miss, by simulation. The figures are in docs/statistics.md.

A run of a sample of the scenarios says two things: about scenarios like these, and about exactly those of the
definition, which a run of all of them would answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

import pytest

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.analysis.extrapolation import GroupExtrapolation, RunSample, extrapolate
from cupel_core.domain.statistics import Interval
from tests.statistics.simulations import Setting, decisions, passes, share

TRIALS = 2_000
"""The standard error of a share of 0.95 is 0.005."""
SAMPLES = [(12, 120, 1), (12, 120, 3), (60, 120, 1), (60, 120, 3), (100, 1_000, 1)]
"""Scenarios that are run, all of them, and repeats."""


def decided(repeats: int, rng: Random) -> Cell:
    return decisions(rng.uniform(1, 5), Setting(0, repeats), rng)


def judged(repeats: int, rng: Random) -> Cell:
    return passes(min(0.98, max(0.02, rng.gauss(0.6, 0.3))), repeats, rng)


def estimated(cells: Iterable[Cell]) -> GroupEstimate:
    return group_estimate(Counter(cells))


def covered(
    sampled: tuple[int, int, int],
    draw: Callable[[int, Random], Cell],
    interval_of: Callable[[GroupExtrapolation], Interval | None],
    value_of: Callable[[GroupEstimate], float | None],
) -> float:
    """The share of intervals that contain what a run of all scenarios shows."""
    chosen, total, repeats = sampled

    def covers(rng: Random) -> bool:
        population = [draw(repeats, rng) for _ in range(total)]
        found = extrapolate(estimated(rng.sample(population, chosen)), RunSample(chosen, total, 1))
        interval, true = found and interval_of(found), value_of(estimated(population))
        return interval is not None and true is not None and interval.low <= true <= interval.high

    return share(TRIALS, 1, covers)


@pytest.mark.parametrize("sampled", SAMPLES)
def test_the_extrapolated_interval_of_a_mean_covers_that_of_all_scenarios(sampled: tuple[int, int, int]) -> None:
    found = covered(
        sampled, decided, lambda each: each.decision and each.decision.interval, lambda each: each.decision.mean
    )
    print(f"coverage, extrapolated mean: {sampled}: {found:.3f}")
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize("sampled", SAMPLES)
def test_the_extrapolated_interval_of_a_pass_rate_covers_that_of_all_scenarios(sampled: tuple[int, int, int]) -> None:
    found = covered(
        sampled, judged, lambda each: each.pass_rate and each.pass_rate.interval, lambda each: each.pass_rate.share
    )
    print(f"coverage, extrapolated pass rate: {sampled}: {found:.3f}")
    assert 0.93 <= found <= 0.99  # Intervals of few scenarios are cautious, as in the grid.


@pytest.mark.parametrize(("scenarios", "repeats"), [(12, 1), (12, 3), (60, 1), (100, 3)])
def test_the_interval_of_a_mean_covers_that_of_scenarios_like_these(scenarios: int, repeats: int) -> None:
    """Positions are symmetric around the middle of the scale, so the true mean is 3."""

    def covers(rng: Random) -> bool:
        interval = estimated(decided(repeats, rng) for _ in range(scenarios)).decision.interval
        return interval is not None and interval.low <= 3 <= interval.high

    found = share(TRIALS, 2, covers)
    print(f"coverage, mean: {scenarios} scenarios, {repeats} repeats: {found:.3f}")
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize(("scenarios", "repeats"), [(5, 3), (5, 10), (12, 3), (12, 10), (20, 3), (50, 10)])
def test_the_interval_of_a_mean_covers_it_if_some_scenarios_have_many_answers(scenarios: int, repeats: int) -> None:
    """Every fifth scenario has five times as many answers as `repeats`, and the others have one."""

    def covers(rng: Random) -> bool:
        cells = (decided(5 * repeats if number % 5 == 0 else 1, rng) for number in range(scenarios))
        interval = estimated(cells).decision.interval
        return interval is not None and interval.low <= 3 <= interval.high

    found = share(TRIALS, 3, covers)
    print(f"coverage, mean with uneven answers: {scenarios} scenarios, up to {5 * repeats} answers: {found:.3f}")
    assert 0.93 <= found <= 0.97
