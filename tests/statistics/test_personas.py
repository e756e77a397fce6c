"""How often intervals for scenarios and personas like those of a run hold, if the same personas are in all scenarios.

The figures are those of the review that showed what intervals by scenario alone leave out: codes whose scenarios
differ by 0.7, and personas by 0 to 0.6 of a code.
"""

from math import inf
from random import Random

import pytest

from cupel_core.domain.analysis.crossed import CaseAnswers, crossed_interval
from cupel_core.domain.statistics import Interval, Trials

DRAWS = 2_000
LEAST = 0.93
"""Monte Carlo error of a coverage of 0.95: 0.005."""
BETWEEN_SCENARIOS, TOGETHER, WITHIN = 0.7, 0.3, 0.6
FINE = 1_000
"""Answers are numbers of thousandths, because sums of trials are whole numbers."""


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.6])
@pytest.mark.parametrize(("scenarios", "personas"), [(5, 5), (20, 5), (50, 5), (20, 15)])
def test_intervals_hold_for_personas_like_these(scenarios: int, personas: int, spread: float) -> None:
    rng = Random(f"{scenarios} {personas} {spread}")
    anywhere = Interval(-inf, inf)
    hits = 0
    for _ in range(DRAWS):
        ease = [rng.gauss(0, BETWEEN_SCENARIOS) for _ in range(scenarios)]
        mood = [rng.gauss(0, spread) for _ in range(personas)]
        cases = [
            CaseAnswers(
                s, p, Trials(1, round(FINE * (ease[s] + mood[p] + rng.gauss(0, TOGETHER) + rng.gauss(0, WITHIN))), 0)
            )
            for s in range(scenarios)
            for p in range(personas)
        ]
        interval = crossed_interval(cases, anywhere)
        hits += interval is not None and interval.low <= 0 <= interval.high
    print(f"\n{scenarios} scenarios, {personas} personas, spread {spread}: {hits / DRAWS:.3f}")
    assert hits / DRAWS >= LEAST
