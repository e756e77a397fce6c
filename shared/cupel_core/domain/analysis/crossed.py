"""Computes intervals that take both the scenarios and the personas of a run as samples.

The variance is clustered by scenario and by persona (Cameron, Gelbach and Miller 2011): it is the variance of scenarios
plus that of personas minus that of their combinations, and at least the larger of the first two. Student's t has the
degrees of freedom of the smaller number of both.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.statistics import (
    CODE_LIMITS,
    MIN_SCENARIOS,
    Interval,
    Proportion,
    Trials,
    share_interval,
    t_interval,
)

MIN_PERSONAS = 5
"""Fewer personas say nothing about others like them."""
_ROUNDING = 1e-20
"""A smaller variance is rounding error: the answers are equal."""


class CaseAnswers(NamedTuple):
    scenario: Hashable
    persona: Hashable
    trials: Trials


class _CrossedMean(NamedTuple):
    mean: float
    variance: float
    clusters: int
    """The smaller of the numbers of scenarios and personas that have answers."""


def interval_of_codes(cases: Sequence[CaseAnswers]) -> Interval | None:
    """Return Student's interval of 95 %. It is None if fewer than MIN_SCENARIOS scenarios or MIN_PERSONAS personas have
    answers, or if all answers are equal."""
    found = _mean(cases)
    if found is None or found.variance < _ROUNDING:
        return None
    return t_interval(found.mean, sqrt(found.variance), found.clusters - 1, CODE_LIMITS)


def interval_of_share(cases: Sequence[CaseAnswers]) -> Interval | None:
    """Return Wilson's interval of 95 % with the number of trials that has this variance.

    It is never narrower than the interval for exactly these personas. It is None if fewer than MIN_SCENARIOS scenarios
    or MIN_PERSONAS personas have answers.
    """
    found = _mean(cases)
    if found is None:
        return None
    trials, spread = _by_scenario(cases).effective_trials, found.mean * (1 - found.mean)
    if found.variance > _ROUNDING:
        trials = min(trials, spread / found.variance)
    return share_interval(found.mean, trials, found.clusters)


def _by_scenario(cases: Iterable[CaseAnswers]) -> Proportion:
    sums: dict[Hashable, Trials] = {}
    for case in cases:
        known = sums.get(case.scenario, Trials(0, 0, 0))
        sums[case.scenario] = Trials(*(mine + its for mine, its in zip(known, case.trials, strict=True)))
    proportion = Proportion()
    for trials in sums.values():
        proportion.add(trials)
    return proportion


def _mean(cases: Sequence[CaseAnswers]) -> _CrossedMean | None:
    answered = [case for case in cases if case.trials.n]
    answers = _sums((case.scenario, case.trials.n) for case in answered)
    scenarios, personas = len(answers), len({case.persona for case in answered})
    if scenarios < MIN_SCENARIOS or personas < MIN_PERSONAS:
        return None
    mean = fsum(case.trials.total / answers[case.scenario] for case in answered) / scenarios
    influences = [
        (case, (case.trials.total - mean * case.trials.n) / (answers[case.scenario] * scenarios)) for case in answered
    ]
    by_scenario = _variance((case.scenario, influence) for case, influence in influences)
    by_persona = _variance((case.persona, influence) for case, influence in influences)
    by_both = _variance(((case.scenario, case.persona), influence) for case, influence in influences)
    variance = max(by_scenario, by_persona, by_scenario + by_persona - by_both)
    return _CrossedMean(mean, variance, min(scenarios, personas))


def _variance(influences: Iterable[tuple[Hashable, float]]) -> float:
    sums = _sums(influences)
    clusters = len(sums)
    return fsum(influence * influence for influence in sums.values()) * clusters / (clusters - 1)


def _sums(amounts: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for key, amount in amounts:
        sums[key] += amount
    return sums
