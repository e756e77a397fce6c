"""Simulated runs over a grid of settings: how often intervals of a pass rate and verdicts on two runs are right.

A scenario has a pass rate of its own, drawn from a beta distribution with the setting's rate as its mean and the
setting's correlation between answers of one scenario.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from cupel_core.domain.analysis.comparison import ComparisonRow, compare
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ComparisonSide, SideColumn, SideScenario
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.statistics import Interval, Proportion, Trials


class RunSetting(NamedTuple):
    scenarios: int
    answers: int
    correlation: float
    rate: float
    is_uneven: bool = False
    """Whether four of five scenarios have only a fifth of the answers."""

    @property
    def sizes(self) -> list[int]:
        few = max(1, self.answers // 5)
        return [self.answers if not self.is_uneven or number % 5 == 0 else few for number in range(self.scenarios)]

    def rates(self, rng: Random) -> list[float]:
        return [scenario_rate(self.rate, self.correlation, rng) for _ in range(self.scenarios)]


def scenario_rate(rate: float, correlation: float, rng: Random) -> float:
    if not correlation or rate in (0.0, 1.0):
        return rate
    scale = (1 - correlation) / correlation
    return rng.betavariate(rate * scale, (1 - rate) * scale)


def fixed_settings() -> Iterator[RunSetting]:
    """The grid on which the method was chosen."""
    for scenarios in (2, 3, 5, 8, 12, 20, 50):
        for answers in (1, 3, 10, 30):
            for correlation in (0.0, 0.1, 0.3, 0.6, 0.9):
                for rate in (0.02, 0.2, 0.5, 0.9, 0.98):
                    if answers > 1 or not correlation:
                        yield RunSetting(scenarios, answers, correlation, rate)


def drawn_settings(number: int, seed: int) -> Iterator[RunSetting]:
    """Settings between those of the grid, drawn after the method was chosen."""
    rng = Random(seed)
    for _ in range(number):
        yield RunSetting(
            rng.randint(2, 50),
            rng.randint(1, 30),
            rng.uniform(0, 0.9),
            rng.uniform(0.02, 0.98),
            is_uneven=rng.random() < 0.3,
        )


def coverage(setting: RunSetting, draws: int, seed: int) -> float:
    """The share of intervals that contain the true rate: of exactly these scenarios if there are fewer than five."""
    rng, hits = Random(seed), 0
    for _ in range(draws):
        rates, share = setting.rates(rng), Proportion()
        for size, rate in zip(setting.sizes, rates, strict=True):
            share.add(Trials.of_share(size, rng.binomialvariate(size, rate)))
        true = setting.rate if setting.scenarios >= 5 else sum(rates) / setting.scenarios
        hits += contains(share.interval, true)
    return hits / draws


def contains(interval: Interval | None, value: float) -> bool:
    return interval is not None and interval.low - 1e-12 <= value <= interval.high + 1e-12


class PairSetting(NamedTuple):
    """Two runs whose scenarios' rates differ by `change` on average."""

    scenarios: int
    answers: int
    rate: float
    change: float
    correlation: float = 0.0
    targets: int = 1


def pair_rows(setting: PairSetting, rng: Random) -> Sequence[ComparisonRow]:
    """The rows of all targets, and that of all together."""
    before, after = [], []
    for _ in range(setting.targets):
        rates = [scenario_rate(setting.rate, setting.correlation, rng) for _ in range(setting.scenarios)]
        changed = [scenario_rate(setting.rate + setting.change, setting.correlation, rng) for _ in rates]
        before.append([_judged(setting.answers, rate, rng) for rate in rates])
        after.append([_judged(setting.answers, rate, rng) for rate in (changed if setting.change else rates)])
    figures = compare(_side("run_a", before), _side("run_b", after), ComparisonOptions())
    return [*figures.rows, *([figures.overall] if figures.overall else [])]


def _judged(answers: int, rate: float, rng: Random) -> Cell:
    return Cell(other=answers, judged=answers, passed=rng.binomialvariate(answers, rate))


def _side(run_id: str, cells: list[list[Cell]]) -> ComparisonSide:
    scenarios = [SideScenario(str(number), "", {}, {None: number}) for number in range(len(cells[0]))]
    columns = tuple(SideColumn(number, Column(Target(f"sim/{number}"))) for number in range(len(cells)))
    return ComparisonSide(run_id, columns, scenarios, lambda column, case: cells[column][case])


def compared_looks(scenarios: int, answers: int, looks: int, rng: Random) -> Iterator[ComparisonRow]:
    """One baseline, compared with run after run of the same models."""
    rates = [scenario_rate(0.8, 0.3, rng) for _ in range(scenarios)]
    baseline = _side("run_a", [[_judged(answers, rate, rng) for rate in rates]])
    for _ in range(looks):
        run = _side("run_b", [[_judged(answers, rate, rng) for rate in rates]])
        yield compare(baseline, run, ComparisonOptions()).rows[0]
