"""Draws the transcripts that people label, with the probability of each.

Scenarios are drawn first and one transcript of each, because several labels of one scenario say little more than one.
The transcripts are laid out on a line, each as long as its probability and those of a scenario next to each other. One
random start and steps of length 1 choose the transcripts (systematic sampling with unequal probabilities, Madow 1949),
so no scenario of length 1 or less is drawn twice.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from math import ceil, fsum
from random import Random
from typing import NamedTuple

_LEAST_SHARES = {True: 0.4, False: 0.4, None: 0.1}
"""Least share of the labels for the judge's passes, failures and undecided transcripts. In the usual ranges of pass
rates and of the judge's errors, the variance is least with about 60 % of the labels for passes and 40 % for failures,
even if only a twentieth fails."""
_SECOND_LABELS = 0.2
_ROUNDING = 1e-9
_HALVINGS = 60


class JudgedTranscript(NamedTuple):
    key: str
    """Identifies the transcript in the result."""
    scenario: str
    judge: bool | None
    """True if the judge let it pass; None if it was undecided."""
    target: str = ""


class DrawnTranscript(NamedTuple):
    key: str
    probability: float
    """The probability with which this transcript was drawn (π)."""
    is_labelled_twice: bool
    """True if a second person labels it too."""

    @property
    def weight(self) -> float:
        return 1 / self.probability


class _DrawStratum(NamedTuple):
    target: str
    judge: bool | None


type _Kind = frozenset[tuple[_DrawStratum, int]]
"""Numbers of transcripts of each stratum in a scenario."""


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
    return [DrawnTranscript(each.key, probability, place in twice) for place, (each, probability) in enumerate(drawn)]


def planned_shares(shares: Mapping[bool | None, float]) -> dict[bool | None, float]:
    """Return the shares of the labels for each verdict that occurs, from the shares of the transcripts."""
    occurring = {verdict: share for verdict, share in shares.items() if share}
    least = fsum(_LEAST_SHARES[verdict] for verdict in occurring)
    scale, rest, total = max(1.0, least), max(0.0, 1 - least), fsum(occurring.values())
    return {verdict: _LEAST_SHARES[verdict] / scale + rest * share / total for verdict, share in occurring.items()}


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
    kinds = list(map(_kind, scenarios))
    of_kind = _probabilities(Counter(kinds), count)
    lengths = [
        of_kind[kind][_stratum(each)] for kind, scenario in zip(kinds, scenarios, strict=True) for each in scenario
    ]
    ends = list(accumulate(lengths))
    start, scale = rng.random(), ends[-1] / count
    hits = {min(bisect_right(ends, (start + step) * scale), len(line) - 1) for step in range(count)}
    spans = list(_spans(scenarios))
    places = [_chosen_place(place, spans[place], lengths, rng) for place in sorted(hits)]
    return [(line[place], min(1.0, lengths[place])) for place in places]


def _spans(scenarios: Iterable[Sequence[JudgedTranscript]]) -> Iterator[range]:
    """Yield for each place of the line the places of its scenario."""
    first = 0
    for scenario in scenarios:
        span = range(first, first + len(scenario))
        yield from repeat(span, len(scenario))
        first = span.stop


def _chosen_place(place: int, span: range, lengths: Sequence[float], rng: Random) -> int:
    """Return the transcript that is drawn of a scenario which was hit.

    A scenario that is hit at most once gets a choice of its own. Without it, equal steps would hit the same part of
    all scenarios whose length is 1, and so nothing but passes or nothing but failures.
    """
    own = lengths[span.start : span.stop]
    return place if fsum(own) > 1 + _ROUNDING else rng.choices(span, own)[0]


def _composition(scenario: Sequence[JudgedTranscript]) -> tuple[float, float]:
    """Order scenarios by their shares of failures, so that the number of draws of each verdict hardly varies."""
    failed, undecided = (sum(each.judge is judge for each in scenario) / len(scenario) for judge in (False, None))
    return failed, undecided


def _stratum(transcript: JudgedTranscript) -> _DrawStratum:
    return _DrawStratum(transcript.target, transcript.judge)


def _kind(scenario: Sequence[JudgedTranscript]) -> _Kind:
    return frozenset(Counter(map(_stratum, scenario)).items())


def _probabilities(scenarios: Counter[_Kind], count: int) -> dict[_Kind, dict[_DrawStratum, float]]:
    """Return the probability of a transcript of each stratum, by kind of scenario; over all, their sum is `count`.

    No transcript has more than 1, and no scenario more than the least number of draws per scenario that is enough.
    What a scenario cannot take goes to the others in proportion.
    """
    sizes: Counter[_DrawStratum] = Counter()
    for kind, times in scenarios.items():
        sizes.update({stratum: size * times for stratum, size in kind})
    densities, limit = _densities(sizes, count), _draws_per_scenario(scenarios, count)

    def expected(factor: float) -> float:
        return fsum(times * _draws(kind, densities, factor, limit) for kind, times in scenarios.items())

    low = high = 1.0
    while expected(high) < count - _ROUNDING:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < count else (low, middle)
    return {kind: _limited(kind, densities, high, limit) for kind in scenarios}


def _limited(
    kind: _Kind, densities: Mapping[_DrawStratum, float], factor: float, limit: int
) -> dict[_DrawStratum, float]:
    """Return the densities times a factor, with at most 1 for each transcript and `limit` for the scenario."""
    result = {stratum: min(1.0, factor * densities[stratum]) for stratum, _ in kind}
    excess = fsum(size * result[stratum] for stratum, size in kind) / limit
    return {stratum: each / excess for stratum, each in result.items()} if excess > 1 else result


def _draws(kind: _Kind, densities: Mapping[_DrawStratum, float], factor: float, limit: int) -> float:
    """Return the expected number of draws of a scenario."""
    return min(float(limit), fsum(size * min(1.0, factor * densities[stratum]) for stratum, size in kind))


def _draws_per_scenario(scenarios: Counter[_Kind], count: int) -> int:
    sizes = {kind: sum(size for _, size in kind) for kind in scenarios}
    limit = 1
    while sum(min(limit, sizes[kind]) * times for kind, times in scenarios.items()) < count:
        limit += 1
    return limit


def _densities(sizes: Counter[_DrawStratum], count: int) -> dict[_DrawStratum, float]:
    """Return the expected number of draws per transcript of each stratum, before limits."""
    targets = {stratum.target for stratum in sizes}
    densities = {}
    for target in targets:
        own = {stratum.judge: size for stratum, size in sizes.items() if stratum.target == target}
        for judge, share in planned_shares(own).items():
            densities[_DrawStratum(target, judge)] = share * count / len(targets) / own[judge]
    return densities
