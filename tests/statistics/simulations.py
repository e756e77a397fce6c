"""Simulated pairs of runs, for the level of the tests and the coverage of the intervals of a comparison.

Every simulation is seeded. A scenario has a latent position; an answer is the nearest code from 1 to 5 to it plus
noise, so that repeats of a scenario are correlated and codes have ties and ends, as real ones have.
"""

from collections.abc import Callable
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from cupel_core.domain.analysis.comparison import ComparisonRow, compare
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ComparisonSide, SideColumn, SideScenario
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import Target


class Setting(NamedTuple):
    scenarios: int
    repeats: int = 1
    noise: float = 0.5
    effect: float = 0.0
    """What the comparison side's latent positions are higher by."""


def decision_row(setting: Setting, rng: Random) -> ComparisonRow:
    """The comparison of two runs with decisions."""
    positions = [rng.uniform(1, 5) for _ in range(setting.scenarios)]
    before = [decisions(position, setting, rng) for position in positions]
    after = [decisions(position + setting.effect, setting, rng) for position in positions]
    return _compare(before, after)


def pass_row(scenarios: int, repeats: int, rng: Random, spread: float = 0.3) -> ComparisonRow:
    """The comparison of two runs with the same pass rates, which differ between scenarios."""
    rates = [min(0.98, max(0.02, rng.gauss(0.6, spread))) for _ in range(scenarios)]
    before, after = ([passes(rate, repeats, rng) for rate in rates] for _ in range(2))
    return _compare(before, after)


def decisions(position: float, setting: Setting, rng: Random) -> Cell:
    counts = [0] * 5
    for _ in range(setting.repeats):
        counts[min(5, max(1, round(rng.gauss(position, setting.noise)))) - 1] += 1
    return Cell(*counts)


def passes(rate: float, repeats: int, rng: Random) -> Cell:
    passed = sum(rng.random() < rate for _ in range(repeats))
    return Cell(other=repeats, judged=repeats, passed=passed)


def share(trials: int, seed: int, is_hit: Callable[[Random], bool]) -> float:
    """The share of simulated comparisons of which something holds."""
    rng = Random(seed)
    return sum(is_hit(rng) for _ in range(trials)) / trials


def _compare(before: list[Cell], after: list[Cell]) -> ComparisonRow:
    return compare(_side("run_a", before), _side("run_b", after), ComparisonOptions()).rows[0]


def _side(run_id: str, cells: list[Cell]) -> ComparisonSide:
    scenarios = [SideScenario(str(number), "", {}, {None: number}) for number in range(len(cells))]
    column = SideColumn(0, Column(Target("sim/steady")))
    return ComparisonSide(run_id, (column,), scenarios, lambda _, case: cells[case])


def mean_difference(setting: Setting) -> float:
    """The true mean difference of codes, which is smaller than the latent effect at the ends of the scale."""
    differences = (_mean_code(at + setting.effect, setting) - _mean_code(at, setting) for at in _POSITIONS)
    return sum(differences) / len(_POSITIONS)


def latent_effect(setting: Setting, difference: float) -> float:
    """The latent effect that makes this mean difference of codes, found by bisection."""
    low, high = 0.0, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        is_too_low = mean_difference(setting._replace(effect=middle)) < difference
        low, high = (middle, high) if is_too_low else (low, middle)
    return low


_POSITIONS = [1 + 4 * (number + 0.5) / 2_000 for number in range(2_000)]


def _mean_code(position: float, setting: Setting) -> float:
    """A code is 1, plus one for each boundary between two codes that the latent answer is above."""
    latent = NormalDist(position, setting.noise)
    return 1 + sum(1 - latent.cdf(boundary) for boundary in _BOUNDARIES)


_BOUNDARIES = (1.5, 2.5, 3.5, 4.5)
