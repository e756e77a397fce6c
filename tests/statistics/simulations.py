"""Simulated pairs of runs, for the level of the tests and the coverage of the intervals of a comparison.

Every simulation is seeded. A scenario has a latent position; an answer is the nearest code from 1 to 5 to it plus
noise, so that repeats of a scenario are correlated and codes have ties and ends, as real ones have.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from cupel_core.domain.analysis.comparison import ComparisonOptions, ComparisonRow, compare
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


def mean_difference(setting: Setting, rng: Random, scenarios: int = 20_000) -> float:
    """The true mean difference of codes, which is smaller than the latent effect at the ends of the scale."""
    return sum(_differences(setting, rng, scenarios)) / scenarios


def _differences(setting: Setting, rng: Random, scenarios: int) -> Iterator[float]:
    for _ in range(scenarios):
        position = rng.uniform(1, 5)
        before, after = (decisions(at, setting, rng) for at in (position, position + setting.effect))
        yield (after.mean_code or 0.0) - (before.mean_code or 0.0)
