"""How often the bounds of a cost that is estimated from earlier conversations hold, for histories of few scenarios and
for costs with heavy tails.

A budget limits each call, so a conversation has a greatest cost: it is ten times the median where scenarios differ, and
elsewhere the cost that one conversation in 2,000 would exceed without a limit.
"""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from cupel_core.domain.estimates.history import predicted_sum

RUNS = 400
LEAST = 0.92
"""Monte Carlo error of a coverage of 0.95 in 400 runs: 0.011."""
BETWEEN, WITHIN = 0.7, 0.3
"""Standard deviations of the logarithms of scenarios' costs, and of conversations' within a scenario."""
SCENARIOS, REPEATS = 100, 10
CLUSTERED_LIMIT = 10.0

type Draw = Callable[[Random], float]


def lognormal(deviation: float) -> Draw:
    return lambda rng: rng.lognormvariate(0.0, deviation)


def pareto(rng: Random) -> float:
    return rng.paretovariate(2.1)


def rare(rng: Random) -> float:
    """Three conversations in a hundred cost twenty times as much."""
    return (20.0 if rng.random() < 0.03 else 1.0) * rng.lognormvariate(0.0, 0.2)


TAILS: dict[str, tuple[Draw, float]] = {
    "lognormal, sd 1": (lognormal(1.0), 26.9),
    "lognormal, sd 1.5": (lognormal(1.5), 139.0),
    "Pareto 2.1": (pareto, 37.3),
    "3 % cost 20 times as much": (rare, 36.0),
}


@pytest.mark.parametrize("are_same", [False, True], ids=["other", "the same"])
@pytest.mark.parametrize(("scenarios", "repeats"), [(2, 5), (3, 10), (5, 10), (10, 10)])
def test_histories_of_few_scenarios(scenarios: int, repeats: int, are_same: bool) -> None:
    """A run of 100 scenarios with ten repeats, among which the known ones are or are not."""
    rng = Random(f"{scenarios} {repeats} {are_same}")

    def conversations(mean: float, count: int) -> list[float]:
        return [min(CLUSTERED_LIMIT, mean * rng.lognormvariate(0.0, WITHIN)) for _ in range(count)]

    def outcomes() -> Iterator[float]:
        for _ in range(RUNS):
            means = [rng.lognormvariate(0.0, BETWEEN) for _ in range(scenarios + SCENARIOS)]
            known = {number: conversations(means[number], repeats) for number in range(scenarios)}
            further = range(SCENARIOS) if are_same else range(scenarios, scenarios + SCENARIOS)
            actual = sum(sum(conversations(means[number], REPEATS)) for number in further)
            interval = predicted_sum(known, SCENARIOS * REPEATS, further, CLUSTERED_LIMIT)
            yield interval.low <= actual <= interval.high

    covered = sum(outcomes()) / RUNS
    print(f"cost of 100 scenarios from {scenarios} {'of them' if are_same else 'others'} x {repeats}: {covered:.3f}")
    assert covered >= LEAST


@pytest.mark.parametrize("count", [100, 1_000])
@pytest.mark.parametrize("known", [10, 30, 100])
@pytest.mark.parametrize("tail", TAILS)
def test_costs_with_heavy_tails(tail: str, known: int, count: int) -> None:
    (draw, limit), rng, covered = TAILS[tail], Random(f"{tail} {known} {count}"), 0
    for _ in range(RUNS):
        figures = {scenario: [min(limit, draw(rng))] for scenario in range(known)}
        interval = predicted_sum(figures, count, range(known, known + count), limit)
        covered += interval.low <= sum(min(limit, draw(rng)) for _ in range(count)) <= interval.high
    print(f"cost of {count} conversations from {known}, {tail}: {covered / RUNS:.3f}")
    assert covered >= LEAST * RUNS
