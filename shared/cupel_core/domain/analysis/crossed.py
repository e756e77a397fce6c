"""Intervals for scenarios and personas like those of a run, which are both taken as samples.

The variance is clustered by scenario and by persona (Cameron, Gelbach and Miller 2011): that of scenarios, plus that of
personas, minus that of their combinations, and at least the larger of the first two. Student's t has the degrees of
freedom of the smaller number of both.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, Trials, t_interval

MIN_PERSONAS = 5
"""Of fewer personas, nothing is said about others like them."""


class CaseAnswers(NamedTuple):
    """The answers to a scenario with a persona."""

    scenario: Hashable
    persona: Hashable
    trials: Trials


def crossed_interval(cases: Sequence[CaseAnswers], limits: Interval) -> Interval | None:
    """Return the interval of 95 % of the mean over scenarios, each of which counts once.

    None if fewer than MIN_SCENARIOS scenarios or MIN_PERSONAS personas have answers, or if all answers are equal.
    """
    answered = [case for case in cases if case.trials.n]
    answers = _sums((case.scenario, case.trials.n) for case in answered)
    scenarios, personas = len(answers), len({case.persona for case in answered})
    if scenarios < MIN_SCENARIOS or personas < MIN_PERSONAS:
        return None
    mean = fsum(case.trials.total / answers[case.scenario] for case in answered) / scenarios
    pulls = [
        (case, (case.trials.total - mean * case.trials.n) / (answers[case.scenario] * scenarios)) for case in answered
    ]
    by_scenario = _variance((case.scenario, pull) for case, pull in pulls)
    by_persona = _variance((case.persona, pull) for case, pull in pulls)
    by_both = _variance(((case.scenario, case.persona), pull) for case, pull in pulls)
    variance = max(by_scenario, by_persona, by_scenario + by_persona - by_both)
    return t_interval(mean, sqrt(variance), min(scenarios, personas) - 1, limits) if variance else None


def _variance(pulls: Iterable[tuple[Hashable, float]]) -> float:
    """Of the mean, from how far each case pulls it; those of a cluster are added up."""
    sums = _sums(pulls)
    clusters = len(sums)
    return fsum(pull * pull for pull in sums.values()) * clusters / (clusters - 1)


def _sums(amounts: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for key, amount in amounts:
        sums[key] += amount
    return sums
