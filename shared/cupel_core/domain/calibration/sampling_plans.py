"""Draws the transcripts that people label, with the probability of each.

Scenarios are drawn first and one transcript of each, because several labels of one scenario say little more than one.
The transcripts are laid out on a line, each as long as its probability and those of a scenario next to each other. One
random start and steps of length 1 choose the transcripts (systematic sampling with unequal probabilities, Madow 1949),
so no scenario of length 1 or less is drawn twice.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import ceil, fsum
from random import Random
from typing import NamedTuple

_LEAST_SHARES = {True: 0.4, False: 0.4, None: 0.1}
"""Least share of the labels for the judge's passes, failures and undecided transcripts. In the usual ranges of pass
rates and of the judge's errors, the variance is least with about 60 % of the labels for passes and 40 % for failures,
even if only a twentieth fails."""
_SECOND_LABELS = 0.2
_ROUNDING = 1e-9


class JudgedTranscript(NamedTuple):
    key: str
    """Identifies the transcript in the result."""
    scenario: str
    judge: bool | None
    """True if the judge let it pass; None if it was undecided."""
    target: str = ""


class DrawnTranscript(NamedTuple):
    key: str
    stratum: str
    probability: float
    """The probability with which this transcript was drawn (π)."""
    is_labelled_twice: bool
    """True if a second person labels it too."""

    @property
    def weight(self) -> float:
        return 1 / self.probability


class _Stratum(NamedTuple):
    target: str
    judge: bool | None

    @property
    def name(self) -> str:
        verdict = "undecided" if self.judge is None else "passed" if self.judge else "failed"
        return f"{self.target}:{verdict}" if self.target else verdict


def draw_for_labelling(
    transcripts: Sequence[JudgedTranscript], count: int, seed: int, second_labels: float = _SECOND_LABELS
) -> list[DrawnTranscript]:
    """Draw this many transcripts, or all if there are not more, in random order.

    The strata are the judge's verdicts on each target. Targets get equal numbers of labels, and the rarer verdict gets
    more than its share, so each transcript has a probability above zero. A scenario has one draw while there are no
    more draws than scenarios. The share `second_labels` of the draws, at least one, is chosen at random to be labelled
    by a second person.
    """
    if count < 1:
        raise ValueError("at least one label is needed")
    rng = Random(seed)  # noqa: S311 - reproducible, not secret
    if count >= len(transcripts):
        drawn = [(each, 1.0) for each in sorted(transcripts)]
    else:
        drawn = _systematic_draws(transcripts, count, rng)
    rng.shuffle(drawn)
    twice = set(rng.sample(range(len(drawn)), min(len(drawn), ceil(second_labels * len(drawn) - _ROUNDING))))
    return [
        DrawnTranscript(each.key, _Stratum(each.target, each.judge).name, probability, place in twice)
        for place, (each, probability) in enumerate(drawn)
    ]


def _systematic_draws(
    transcripts: Sequence[JudgedTranscript], count: int, rng: Random
) -> list[tuple[JudgedTranscript, float]]:
    by_scenario: defaultdict[str, list[JudgedTranscript]] = defaultdict(list)
    for each in sorted(transcripts):
        by_scenario[each.scenario].append(each)
    scenarios = list(by_scenario.values())
    rng.shuffle(scenarios)
    for scenario in scenarios:
        rng.shuffle(scenario)
    scenarios.sort(key=_composition)
    line = [each for scenario in scenarios for each in scenario]
    lengths = [length for scenario in _probabilities(scenarios, count) for length in scenario]
    ends = list(accumulate(lengths))
    start, scale = rng.random(), ends[-1] / count
    places = {min(bisect_right(ends, (start + step) * scale), len(line) - 1) for step in range(count)}
    return [(line[place], min(1.0, lengths[place])) for place in sorted(places)]


def _composition(scenario: Sequence[JudgedTranscript]) -> tuple[float, float]:
    """Order scenarios by their shares of failures, so that the number of draws of each verdict hardly varies."""
    failed, undecided = (sum(each.judge is judge for each in scenario) / len(scenario) for judge in (False, None))
    return failed, undecided


def _probabilities(scenarios: Sequence[Sequence[JudgedTranscript]], count: int) -> list[list[float]]:
    """Return the probability of each transcript; their sum is the number of draws.

    No transcript has more than 1, and no scenario more than the least number of draws per scenario that is enough.
    What a scenario cannot take goes to the others in proportion.
    """
    densities = _densities(Counter(_Stratum(each.target, each.judge) for each in _flat(scenarios)), count)
    wanted = [[densities[_Stratum(each.target, each.judge)] for each in scenario] for scenario in scenarios]
    limit = _draws_per_scenario([len(each) for each in scenarios], count)
    settled: dict[int, list[float]] = {}
    while True:
        free = [place for place in range(len(wanted)) if place not in settled]
        left = count - fsum(map(fsum, settled.values()))
        factor = left / fsum(fsum(wanted[place]) for place in free) if free else 1.0
        full = {place: limited for place in free if (limited := _limited(wanted[place], factor, limit)) is not None}
        if not full:
            return [settled.get(place) or [factor * each for each in wanted[place]] for place in range(len(wanted))]
        settled |= full


def _limited(wanted: Sequence[float], factor: float, limit: int) -> list[float] | None:
    """Return the probabilities in a scenario that exceeds a limit; None if it does not."""
    capacity = float(min(limit, len(wanted)))
    if factor * fsum(wanted) < capacity - _ROUNDING and factor * max(wanted) <= 1 + _ROUNDING:
        return None
    target, result = min(capacity, factor * fsum(wanted)), [0.0] * len(wanted)
    free = set(range(len(wanted)))
    while free:
        scale = (target - (len(wanted) - len(free))) / fsum(wanted[place] for place in free)
        over = {place for place in free if scale * wanted[place] > 1}
        for place in over or free:
            result[place] = 1.0 if over else scale * wanted[place]
        free -= over or free
    return result


def _draws_per_scenario(sizes: Sequence[int], count: int) -> int:
    limit = max(1, ceil(count / len(sizes)))
    while sum(min(limit, size) for size in sizes) < count:
        limit += 1
    return limit


def _densities(sizes: Counter[_Stratum], count: int) -> dict[_Stratum, float]:
    """Return the expected number of draws per transcript of each stratum, before limits."""
    targets = {stratum.target for stratum in sizes}
    densities = {}
    for target in targets:
        own = {stratum: size for stratum, size in sizes.items() if stratum.target == target}
        least = fsum(_LEAST_SHARES[stratum.judge] for stratum in own)
        scale, rest, total = max(1.0, least), max(0.0, 1 - least), sum(own.values())
        for stratum, size in own.items():
            share = _LEAST_SHARES[stratum.judge] / scale + rest * size / total
            densities[stratum] = share * count / len(targets) / size
    return densities


def _flat(scenarios: Iterable[Iterable[JudgedTranscript]]) -> Iterable[JudgedTranscript]:
    return (each for scenario in scenarios for each in scenario)
