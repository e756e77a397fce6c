"""Measures agreement on which scenarios pass, by methods that stay valid when nearly all pass.

The interval of alpha still covers it then, and Gwet's coefficient hardly depends on how many pass.
"""

from collections.abc import Iterable, Mapping
from math import fsum, sumprod
from random import Random

from cupel_core.domain.analysis.rated_units import Unit
from cupel_core.domain.statistics import Interval

MAX_KINDS = 200
"""The posterior distribution is sampled for at most this many kinds of scenarios."""
_DRAWS = 1_000
_PRIOR = 0.5
"""The weight of each kind of scenario that is possible without repeats (Jeffreys' prior)."""
_MAX_SPLIT_PRIOR = 1.0
"""All kinds in which targets disagree have at most this weight together; with fifty targets, 49 such kinds would
outweigh the scenarios."""
_TAIL = 0.025
_TINY = 1e-12


def gwet_ac1(counts: Mapping[Unit, int]) -> float | None:
    """Return Gwet's first-order agreement coefficient of two categories (2008, doi:10.1348/000711006X126600).

    It is None if no scenario has two ratings. Agreement by chance is 2p(1 - p) instead of alpha's 1 - 2p(1 - p), so
    agreement does not look like chance when nearly all pass. Alone it says little: targets that always pass everything
    have 1.
    """
    rated = {unit: times for unit, times in counts.items() if unit.raters}
    paired = {unit: times for unit, times in rated.items() if unit.raters > 1}
    if not paired:
        return None
    agreed = _mean((_agreeing(unit), times) for unit, times in paired.items())
    passed = _mean((unit.totals[1] / unit.raters, times) for unit, times in rated.items())
    by_chance = 2 * passed * (1 - passed)
    return (agreed - by_chance) / (1 - by_chance)


def _agreeing(unit: Unit) -> float:
    return 1 - 2 * unit.pairs[0] / (unit.raters * (unit.raters - 1))


def _mean(values: Iterable[tuple[float, int]]) -> float:
    weighted = list(values)
    return fsum(value * times for value, times in weighted) / sum(times for _, times in weighted)


def alpha_posterior_interval(alpha: float, counts: Mapping[Unit, int]) -> Interval:
    """Return the 95 % interval of alpha, given how many scenarios have each unit of at least two ratings.

    Kinds of scenarios have the posterior distribution of multinomial shares, with Jeffreys' prior for each kind that is
    possible without repeats: no, one, ... or all targets pass. The prior allows for kinds that were not seen; without
    it, a few disagreements among many passes would seem to be all there are. The estimate itself is always within the
    interval.
    """
    raters = max(unit.raters for unit in counts)
    split = min(_PRIOR, _MAX_SPLIT_PRIOR / (raters - 1))
    kinds = [(unit, float(times)) for unit, times in sorted(counts.items())]
    kinds += [(_possible(raters, passed), split if 0 < passed < raters else _PRIOR) for passed in range(raters + 1)]
    ratings = [unit.raters for unit, _ in kinds]
    passes = [unit.totals[1] for unit, _ in kinds]
    pairs = [unit.pairs[0] / (unit.raters - 1) for unit, _ in kinds]
    source, drawn = Random(1), []  # noqa: S311 - reproducible, not secret
    for _ in range(_DRAWS):
        shares = [source.gammavariate(weight, 1.0) for _, weight in kinds]
        n, passed = sumprod(shares, ratings), sumprod(shares, passes)
        expected = passed * (n - passed) / n
        if expected > _TINY:
            drawn.append(1 - sumprod(shares, pairs) / expected)
    drawn.sort()
    low, high = drawn[int(_TAIL * len(drawn))], drawn[-1 - int(_TAIL * len(drawn))]
    return Interval(max(-1.0, min(low, alpha)), min(1.0, max(high, alpha)))


def _possible(raters: int, passed: int) -> Unit:
    failed = raters - passed
    return Unit(raters, (float(failed), float(passed)), (float(failed * passed),))
