"""Intervals for scenarios and personas like those of a run."""

from collections.abc import Sequence
from math import sqrt
from random import Random

import numpy as np
import pytest

from cupel_core.domain.analysis.crossed import CaseAnswers, interval_of_codes, interval_of_share
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.statistics import Proportion, Trials


def trials(*codes: int) -> Trials:
    return Trials(len(codes), sum(codes), sum(code * code for code in codes))


def drawn(scenarios: int, personas: int, seed: int, persona_spread: float = 1.0) -> list[CaseAnswers]:
    """Answers of uneven number to all combinations but a few."""
    random = Random(seed)
    ease, mood = ([random.gauss(0, spread) for _ in range(100)] for spread in (1.0, persona_spread))
    return [
        CaseAnswers(
            s, p, trials(*(round(3 + ease[s] + mood[p] + random.gauss(0, 1)) for _ in range(random.choice((1, 2, 5)))))
        )
        for s in range(scenarios)
        for p in range(personas)
        if random.random() < 0.9
    ]


def interval_by_matrices(cases: Sequence[CaseAnswers]) -> tuple[float, float]:
    """The sandwich of a weighted mean, from indicator matrices of the clusters."""
    scenarios, personas = (sorted({each[position] for each in cases}) for position in (0, 1))
    n = np.array([case.trials.n for case in cases], float)
    of_scenario = np.array([[case.scenario == each for each in scenarios] for case in cases], float)
    of_persona = np.array([[case.persona == each for each in personas] for case in cases], float)
    weight = n / (of_scenario @ (of_scenario.T @ n)) / len(scenarios)
    means = np.array([case.trials.total for case in cases]) / n
    mean = weight @ means
    pull = weight * (means - mean)
    meats = [(len(rows.T) / (len(rows.T) - 1)) * pull @ rows @ rows.T @ pull for rows in (of_scenario, of_persona)]
    both = len(cases) / (len(cases) - 1) * pull @ pull
    variance = max(*meats, sum(meats) - both)
    reach = t_quantile(0.975, min(len(scenarios), len(personas)) - 1) * sqrt(variance)
    return mean - reach, mean + reach


@pytest.mark.parametrize(("scenarios", "personas", "seed"), [(5, 5, 1), (12, 5, 2), (20, 7, 3), (6, 30, 4)])
def test_it_is_the_cluster_robust_interval_of_both(scenarios: int, personas: int, seed: int) -> None:
    cases = drawn(scenarios, personas, seed, persona_spread=0.3)
    low, high = interval_by_matrices(cases)
    assert interval_of_codes(cases) == pytest.approx((max(1.0, low), min(5.0, high)), rel=1e-9)


def test_personas_that_differ_widen_it() -> None:
    widths = []
    for spread in (0.0, 0.7):
        low, high = interval_of_codes(drawn(30, 6, 5, spread)) or (0, 0)
        widths.append(high - low)
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.parametrize("failures", [0, 1, 5])
def test_that_of_a_share_is_never_narrower_than_for_exactly_these_personas(failures: int) -> None:
    cases = [CaseAnswers(s, p, Trials.of_share(1, int(s * 5 + p >= failures))) for s in range(100) for p in range(5)]
    own = Proportion()
    for scenario in range(100):
        own.add(Trials.of_share(5, sum(case.trials.total for case in cases if case.scenario == scenario)))
    interval = interval_of_share(cases)
    assert interval is not None
    assert own.interval is not None
    assert interval.low <= own.interval.low
    assert interval.high >= own.interval.high


@pytest.mark.parametrize(("scenarios", "personas"), [(4, 9), (9, 4)])
def test_of_few_scenarios_or_personas_nothing_is_said(scenarios: int, personas: int) -> None:
    cases = drawn(scenarios, personas, 6)
    assert interval_of_codes(cases) is None
    assert interval_of_share([each._replace(trials=Trials.of_share(1, 1)) for each in cases]) is None


def test_cases_without_answers_are_of_no_persona() -> None:
    cases = [CaseAnswers(s, p, trials(s % 5 + 1) if p < 4 else trials()) for s in range(9) for p in range(5)]
    assert interval_of_codes(cases) is None


@pytest.mark.parametrize("personas", [5, 6, 11])
def test_equal_answers_have_no_interval(personas: int) -> None:
    cases = [CaseAnswers(s, p, trials(3)) for s in range(6) for p in range(personas)]
    assert interval_of_codes(cases) is None
