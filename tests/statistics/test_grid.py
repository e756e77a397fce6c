"""How often intervals of a pass rate miss, and how often equivalence is wrong, over a grid of settings.

docs/statistics.md publishes what this prints.
"""

from collections.abc import Iterable
from random import Random

import pytest

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.estimates import Tally
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval
from tests.statistics.grid import (
    PairSetting,
    RunSetting,
    compared_looks,
    contains,
    coverage,
    drawn_settings,
    fixed_settings,
    pair_rows,
)

DRAWS = 2_000
"""The standard error of a coverage of 0.93 is 0.006."""
DRAWN = 250
PUBLISHED_SEED = 20261129
"""It was chosen after the method."""


@pytest.mark.parametrize("name", ["fixed", "drawn"])
def test_intervals_of_pass_rates_cover_the_rate_of_scenarios_like_these(name: str) -> None:
    settings = fixed_settings() if name == "fixed" else drawn_settings(DRAWN, PUBLISHED_SEED)
    found = _coverages(each for each in settings if each.scenarios >= MIN_SCENARIOS)
    low = {setting: covered for setting, covered in found.items() if covered < 0.93}
    for setting, covered in low.items():
        print(f"below 0.93: {setting}: {covered:.3f}")
    worst = min(found.values())
    print(f"{name}: {len(found)} settings, {len(low)} below 0.93, mean {_mean(found):.3f}, least {worst:.3f}")
    assert len(low) <= 0.02 * len(found)
    assert worst >= 0.88


@pytest.mark.parametrize("name", ["fixed", "drawn"])
def test_intervals_of_few_scenarios_cover_the_rate_of_exactly_these(name: str) -> None:
    settings = fixed_settings() if name == "fixed" else drawn_settings(10 * DRAWN, PUBLISHED_SEED)
    found = _coverages(each for each in settings if each.scenarios < MIN_SCENARIOS)
    print(f"few scenarios, {name}: {len(found)} settings, least {min(found.values()):.3f}, mean {_mean(found):.3f}")
    assert min(found.values()) >= 0.88


@pytest.mark.parametrize(("rate", "change"), [(1.0, -0.05), (0.98, -0.05), (1.0, -0.1), (0.9, -0.05)])
@pytest.mark.parametrize(("scenarios", "answers"), [(5, 1), (10, 1), (20, 1), (40, 1), (100, 1), (5, 5), (20, 5)])
def test_a_fall_as_large_as_the_margin_is_rarely_called_equivalent(
    scenarios: int, answers: int, rate: float, change: float
) -> None:
    setting, rng = PairSetting(scenarios, answers, rate, change), Random(3)
    wrong = sum(pair_rows(setting, rng)[0].verdict is ComparisonVerdict.EQUIVALENT for _ in range(DRAWS)) / DRAWS
    print(f"false EQUIVALENT, {rate:.0%} to {rate + change:.0%}: {scenarios} x {answers}: {wrong:.3f}")
    assert wrong <= 0.06


@pytest.mark.parametrize("targets", [1, 3, 8])
def test_a_family_of_rows_is_rarely_wrong(targets: int) -> None:
    """Any row, or that of all targets together, called different although nothing changed."""
    rng, draws = Random(4), DRAWS // targets
    setting = PairSetting(20, 3, 0.7, 0.0, 0.3, targets)
    wrong = sum(any(row.verdict in _DIFFERENT for row in pair_rows(setting, rng)) for _ in range(draws)) / draws
    print(f"any row called different: {targets} targets: {wrong:.3f}")
    assert wrong <= 0.06


@pytest.mark.parametrize("scenarios", [20, 50])
@pytest.mark.parametrize("looks", [1, 5, 10, 30])
def test_repeated_looks_against_one_baseline(scenarios: int, looks: int) -> None:
    """Nothing changed, and a pipeline compares every run with the same baseline: each further look is a chance to be
    wrong. docs/ci.md says what to do about it."""
    rng, pipelines, answers = Random(5), 120, 5
    wrong = sum(_any_look_is_lower(scenarios, answers, looks, rng) for _ in range(pipelines)) / pipelines
    print(f"LOWER at any of {looks} looks: {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= min(0.5, 0.03 * looks + 0.03)


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5])
def test_the_bounds_of_a_pass_rate_hold_if_failing_conversations_error(chance: float) -> None:
    """A conversation that would fail errors with this chance; the bounds, with their intervals, contain the rate."""
    rng, true = Random(6), 0.8
    plain = bounded = 0
    for _ in range(DRAWS):
        tally = Tally()
        for rate in RunSetting(20, 5, 0.2, true).rates(rng):
            passed = rng.binomialvariate(5, rate)
            errored = rng.binomialvariate(5 - passed, chance)
            tally.add(Cell(other=5 - errored, judged=5 - errored, passed=passed, errored=errored))
        found = tally.estimate()
        plain += contains(found.pass_rate.interval, true)
        low, high = found.pass_rate_bounds or (found.pass_rate, found.pass_rate)
        assert low.interval
        assert high.interval
        bounded += contains(Interval(low.interval.low, high.interval.high), true)
    print(f"failing conversations error with {chance}: interval {plain / DRAWS:.3f}, bounds {bounded / DRAWS:.3f}")
    assert bounded / DRAWS >= 0.93


_DIFFERENT = (ComparisonVerdict.HIGHER, ComparisonVerdict.LOWER)


def _any_look_is_lower(scenarios: int, answers: int, looks: int, rng: Random) -> bool:
    return any(row.verdict is ComparisonVerdict.LOWER for row in compared_looks(scenarios, answers, looks, rng))


def _coverages(settings: Iterable[RunSetting]) -> dict[RunSetting, float]:
    return {setting: coverage(setting, DRAWS, number) for number, setting in enumerate(settings)}


def _mean(found: dict[RunSetting, float]) -> float:
    return sum(found.values()) / len(found)
