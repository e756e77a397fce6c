"""How often intervals for scenarios and personas like those of a run hold, if the same personas are in all scenarios.

The figures are those of the review that showed what intervals by scenario alone leave out: codes whose scenarios
differ by 0.7, and personas by 0 to 0.6 of a code.
"""

from math import exp, log
from random import Random
from statistics import fmean

import pytest

from cupel_core.domain.analysis.crossed import CaseAnswers, interval_of_codes, interval_of_share
from cupel_core.domain.statistics import Trials

DRAWS, SHARE_DRAWS = 2_000, 500
LEAST = 0.93
"""Monte Carlo error of a coverage of 0.95: 0.005, and 0.01 for shares."""
BETWEEN_SCENARIOS, NOISE = 0.7, 0.67
FINE, MIDDLE = 1_000, 3_000
"""Codes are numbers of thousandths, because sums of trials are whole numbers; a trial counts as so many answers."""


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.6])
@pytest.mark.parametrize(("scenarios", "personas"), [(5, 5), (20, 5), (50, 5), (20, 15)])
def test_intervals_of_codes_hold_for_personas_like_these(scenarios: int, personas: int, spread: float) -> None:
    rng = Random(f"{scenarios} {personas} {spread}")
    hits = 0
    for _ in range(DRAWS):
        ease = [rng.gauss(0, BETWEEN_SCENARIOS) for _ in range(scenarios)]
        mood = [rng.gauss(0, spread) for _ in range(personas)]
        cases = [
            CaseAnswers(s, p, Trials(FINE, round(MIDDLE + FINE * (ease[s] + mood[p] + rng.gauss(0, NOISE))), 0))
            for s in range(scenarios)
            for p in range(personas)
        ]
        interval = interval_of_codes(cases)
        hits += interval is not None and interval.low <= MIDDLE / FINE <= interval.high
    print(f"\n{scenarios} scenarios, {personas} personas, spread {spread}: {hits / DRAWS:.3f}")
    assert hits / DRAWS >= LEAST


@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize("rate", [0.6, 0.95, 0.98])
@pytest.mark.parametrize(("scenarios", "personas"), [(20, 5), (20, 15), (50, 5)])
def test_intervals_of_shares_hold_for_personas_like_these(
    scenarios: int, personas: int, rate: float, spread: float
) -> None:
    """Scenarios have rates of a beta distribution, which personas move on the scale of logits."""
    rng = Random(f"{scenarios} {personas} {rate} {spread}")

    def share(ease: float, mood: float) -> float:
        logit = log(max(ease, 1e-9) / max(1 - ease, 1e-9)) + mood
        return 1 / (1 + exp(-logit))

    def draw_ease() -> float:
        return rng.betavariate(4 * rate, 4 * (1 - rate))

    truth = fmean(share(draw_ease(), rng.gauss(0, spread)) for _ in range(100_000))
    hits = 0
    for _ in range(SHARE_DRAWS):
        ease = [draw_ease() for _ in range(scenarios)]
        mood = [rng.gauss(0, spread) for _ in range(personas)]
        cases = [
            CaseAnswers(s, p, Trials.of_share(1, int(rng.random() < share(ease[s], mood[p]))))
            for s in range(scenarios)
            for p in range(personas)
        ]
        interval = interval_of_share(cases)
        hits += interval is not None and interval.low <= truth <= interval.high
    print(f"\n{scenarios} scenarios, {personas} personas, rate {rate}, spread {spread}: {hits / SHARE_DRAWS:.3f}")
    assert hits / SHARE_DRAWS >= LEAST
