"""Measures how far targets agree: Krippendorff's alpha of all, figures of each pair, and alpha without each target.

The codes 1-5 are ordered categories, targets are raters, and scenarios are units. With repeats, a rater's rating is the
distribution of its codes, as if one repeat were drawn at random for each target; so only different targets are ever
compared. For pass rates, the categories are "failed" and "passed".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import reduce
from itertools import combinations
from math import fsum, sqrt, sumprod
from operator import add

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.pairs import CodeShares, PairAgreement, pair_agreements
from cupel_core.domain.analysis.pass_agreement import MAX_KINDS, alpha_posterior_interval, gwet_ac1
from cupel_core.domain.analysis.rated_units import Unit, products, unit_of
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval

MAX_COLUMNS = 50
"""Pairs are not compared if there are more columns, because nobody could read so many."""
OUTLIER_GAIN = 0.10
MIN_COLUMNS_FOR_OUTLIERS = 3
_GROUPS = 20
"""The jackknife divides the scenarios into this many groups and leaves out one at a time."""
_HIGH, _MODERATE = 0.80, 0.667
_TINY = 1e-12


class AgreementLevel(StrEnum):
    """Krippendorff recommends drawing conclusions from 0.8, and tentative ones from 0.667."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"

    @classmethod
    def of(cls, alpha: float) -> "AgreementLevel":
        return cls.HIGH if alpha >= _HIGH else cls.MODERATE if alpha >= _MODERATE else cls.LOW


@dataclass(frozen=True)
class LeaveOneOut:
    column: int
    alpha: float | None
    gain: float | None
    gain_interval: Interval | None = None

    @property
    def is_outlier(self) -> bool:
        """Return whether the others agree clearly better, beyond what the choice of scenarios explains."""
        if self.gain is None or self.gain_interval is None:
            return False
        return self.gain >= OUTLIER_GAIN and self.gain_interval.low > 0


@dataclass(frozen=True)
class Agreement:
    scenarios: int
    """Scenarios count if at least two columns have decided them."""
    alpha: float | None
    interval: Interval | None
    level: AgreementLevel | None
    ac1: float | None
    """Gwet's AC1 of pass rates hardly depends on how frequent passes are; it is None for decisions."""
    rare_scenarios: int | None
    """In these scenarios, some rating is not the most frequent one; alpha rests on them. It is None without ratings."""
    without: tuple[LeaveOneOut, ...]
    outliers: tuple[int, ...]
    """The others agree clearly better without these columns, which are in descending order of gain."""
    pairs: tuple[PairAgreement, ...]


class _Coincidences:
    """Contains sums over units by number of raters; the sums of several groups of units can be added."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.by_raters: dict[int, _Sums] = {}

    def of(self, raters: int) -> "_Sums":
        return self.by_raters.setdefault(raters, _Sums.empty(self._size))

    def add(self, unit: Unit, times: int) -> None:
        if unit.raters > 1:
            self.of(unit.raters).add(unit.totals, unit.pairs, times)

    def plus(self, other: "_Coincidences", times: int = 1) -> "_Coincidences":
        result = _Coincidences(self._size)
        for raters, sums in self.by_raters.items():
            result.of(raters).add(sums.marginals, sums.pairs, 1)
        for raters, sums in other.by_raters.items():
            result.of(raters).add(sums.marginals, sums.pairs, times)
        return result

    def alpha(self) -> float | None:
        """Return None if no ratings can be paired, or if all are the same."""
        whole = _Sums.empty(self._size)
        for raters in sorted(self.by_raters):
            whole.add(self.by_raters[raters].marginals, (0.0,) * len(whole.pairs), 1)
            whole.pairs = [a + b / (raters - 1) for a, b in zip(whole.pairs, self.by_raters[raters].pairs, strict=True)]
        n = fsum(whole.marginals)
        if n <= 1 + _TINY:
            return None
        distances = _ordinal_distances(whole.marginals)
        products = [a * b for a, b in combinations(whole.marginals, 2)]
        expected = sumprod(products, distances) / (n - 1)
        return 1 - sumprod(whole.pairs, distances) / expected if expected > _TINY else None


@dataclass
class _Sums:
    marginals: list[float]
    pairs: list[float]
    """For each two categories, in the order of `combinations`, this is how often two raters of a unit have one each."""

    @classmethod
    def empty(cls, size: int) -> "_Sums":
        return cls([0.0] * size, [0.0] * (size * (size - 1) // 2))

    def add(self, marginals: Sequence[float], pairs: Sequence[float], times: float) -> None:
        self.marginals = [a + times * b for a, b in zip(self.marginals, marginals, strict=True)]
        self.pairs = [a + times * b for a, b in zip(self.pairs, pairs, strict=True)]


def _ordinal_distances(marginals: Sequence[float]) -> list[float]:
    """Return the squared ordinal difference of each two categories, which is how many ratings lie between them."""
    return [
        (fsum(marginals[low : high + 1]) - (marginals[low] + marginals[high]) / 2) ** 2
        for low, high in combinations(range(len(marginals)), 2)
    ]


def rating(cell: Cell, metric: Metric) -> CodeShares | None:
    counts = cell.codes if metric is Metric.DECISION else (cell.judged - cell.passed, cell.passed)
    total = sum(counts)
    return tuple(count / total for count in counts) if total else None


def krippendorff_alpha(units: Iterable[Sequence[CodeShares | None]]) -> float | None:
    """Return ordinal alpha of units that each have a rating, or None, of every rater."""
    given = [[each for each in unit if each is not None] for unit in units]
    size = max((len(ratings[0]) for ratings in given if ratings), default=1)
    sums = _Coincidences(size)
    for unit, times in Counter(unit_of(ratings, size) for ratings in given).items():
        sums.add(unit, times)
    return sums.alpha()


def agreement(columns: Sequence[Sequence[Cell]], metric: Metric, *, compares_pairs: bool = True) -> Agreement | None:
    """Return the agreement from cells by column, then by scenario; None for fewer than two columns."""
    if len(columns) < 2:
        return None
    ratings = [_ratings(cells, metric) for cells in columns]
    units = _Units(ratings, 5 if metric is Metric.DECISION else 2)
    alpha = units.total.alpha()
    without = _leave_each_out(alpha, units, ratings)
    return Agreement(
        scenarios=units.paired,
        alpha=alpha,
        interval=_interval(alpha, units) if units.paired >= MIN_SCENARIOS else None,
        level=None if alpha is None else AgreementLevel.of(alpha),
        ac1=None if metric is Metric.DECISION else gwet_ac1(units.counted()),
        rare_scenarios=_rare_scenarios(units),
        without=without,
        outliers=_outliers(without),
        pairs=pair_agreements(ratings, metric) if compares_pairs and len(columns) <= MAX_COLUMNS else (),
    )


def leave_one_out(columns: Sequence[Sequence[Cell]], metric: Metric) -> tuple[LeaveOneOut, ...]:
    """Return alpha without each column. `agreement` has the same figures and also compares pairs, which takes
    longer."""
    ratings = [_ratings(cells, metric) for cells in columns]
    units = _Units(ratings, 5 if metric is Metric.DECISION else 2)
    return _leave_each_out(units.total.alpha(), units, ratings)


def _ratings(cells: Iterable[Cell], metric: Metric) -> list[CodeShares | None]:
    """Return one rating per cell; equal ratings are the same object."""
    known: dict[Cell, CodeShares | None] = {}
    same: dict[CodeShares | None, CodeShares | None] = {}
    ratings = []
    for cell in cells:
        if cell not in known:
            made = rating(cell, metric)
            known[cell] = same.setdefault(made, made)
        ratings.append(known[cell])
    return ratings


class _Units:
    """Contains the units of a run. With few repeats, many are equal, so each distinct one is computed once."""

    def __init__(self, ratings: Sequence[Sequence[CodeShares | None]], size: int) -> None:
        self.size = size
        self._known = list({each: None for column in ratings for each in column})
        self._numbers = {each: number for number, each in enumerate(self._known)}
        rows = zip(*([self._numbers[each] for each in column] for column in ratings), strict=True)
        self._units, self._positions = self._distinct(rows)
        self.paired = sum(self._units[position].raters > 1 for position in self._positions)
        self.groups = [self._sum(self._positions[number::_GROUPS]) for number in range(_GROUPS)]
        self.total = reduce(_Coincidences.plus, self.groups)

    @property
    def numbers_of_groups(self) -> list[int]:
        return [number for number, group in enumerate(self.groups) if group.by_raters]

    def _distinct(self, rows: Iterable[Sequence[int]]) -> tuple[list[Unit], list[int]]:
        """Return the distinct units, and the position of each scenario's unit among them. A unit depends on the ratings
        of a scenario, not on which rater gave which."""
        units, known, positions = list[Unit](), dict[tuple[int, ...], int](), list[int]()
        for row in rows:
            key = tuple(sorted(row))
            if (position := known.get(key)) is None:
                position = known[key] = len(units)
                units.append(unit_of([each for number in key if (each := self._known[number]) is not None], self.size))
            positions.append(position)
        return units, positions

    def counted(self) -> Counter[Unit]:
        counts: Counter[Unit] = Counter()
        for position, times in Counter(self._positions).items():
            counts[self._units[position]] += times
        return counts

    def _sum(self, positions: Iterable[int]) -> _Coincidences:
        sums = _Coincidences(self.size)
        for position, times in Counter(positions).items():
            sums.add(self._units[position], times)
        return sums

    def groups_without(self, column: Sequence[CodeShares | None]) -> list[_Coincidences]:
        return [self._without(column[number::_GROUPS], number) for number in range(_GROUPS)]

    def _without(self, ratings: Sequence[CodeShares | None], group: int) -> _Coincidences:
        """Return the sums over a group of scenarios without the pairs that one column's ratings are part of."""
        positions = self._positions[group::_GROUPS]
        unrated = self._sum(position for position, each in zip(positions, ratings, strict=True) if each is None)
        result = unrated.plus(_Coincidences(self.size))
        for raters, sums in self.groups[group].plus(unrated, -1).by_raters.items():
            if raters > 2:
                result.of(raters - 1).add(sums.marginals, sums.pairs, 1)
        for (raters, number), others in self._others(ratings, positions).items():
            if raters > 2 and (own := self._known[number]) is not None:
                others.take_from(result.of(raters - 1), own)
        return result

    def _others(
        self, ratings: Iterable[CodeShares | None], positions: Iterable[int]
    ) -> "dict[tuple[int, int], _Others]":
        found: dict[tuple[int, int], _Others] = {}
        numbers = map(self._numbers.__getitem__, ratings)
        for position, number in zip(positions, numbers, strict=True):
            raters, totals, _ = self._units[position]
            others = found.get((raters, number)) or found.setdefault((raters, number), _Others(self.size))
            others.add(totals)
        return found


class _Others:
    """Sums the ratings of the other columns over scenarios in which one column has the same rating."""

    def __init__(self, size: int) -> None:
        self._totals = [0.0] * size
        self._scenarios = 0

    def add(self, totals: CodeShares) -> None:
        self._totals = list(map(add, self._totals, totals))
        self._scenarios += 1

    def take_from(self, sums: _Sums, own: CodeShares) -> None:
        totals = tuple(self._totals)
        crossed = zip(products(totals, own), products(own, totals), products(own, own), strict=True)
        pairs = [first + second - 2 * same * self._scenarios for first, second, same in crossed]
        sums.add([share * self._scenarios for share in own], pairs, -1)


def _leave_each_out(
    alpha: float | None, units: _Units, ratings: Sequence[Sequence[CodeShares | None]]
) -> tuple[LeaveOneOut, ...]:
    if len(ratings) < MIN_COLUMNS_FOR_OUTLIERS:
        return tuple(LeaveOneOut(column, None, None) for column in range(len(ratings)))
    return tuple(_leave_out(column, alpha, units, each) for column, each in enumerate(ratings))


def _leave_out(column: int, alpha: float | None, units: _Units, ratings: Sequence[CodeShares | None]) -> LeaveOneOut:
    groups = units.groups_without(ratings)
    total = reduce(_Coincidences.plus, groups)
    rest = total.alpha()
    if rest is None or alpha is None:
        return LeaveOneOut(column, rest, None)

    def gain_without(group: int) -> float | None:
        own, all_columns = total.plus(groups[group], -1).alpha(), units.total.plus(units.groups[group], -1).alpha()
        return None if own is None or all_columns is None else own - all_columns

    has_interval = units.paired >= MIN_SCENARIOS
    reach = _jackknife_reach(units.numbers_of_groups, gain_without) if has_interval else None
    gain = rest - alpha
    return LeaveOneOut(column, rest, gain, None if reach is None else Interval(gain - reach, gain + reach))


def _outliers(without: Sequence[LeaveOneOut]) -> tuple[int, ...]:
    """Return at most half of the columns, because a majority cannot be unlike the rest."""
    found = sorted((-(each.gain or 0.0), each.column) for each in without if each.is_outlier)
    return tuple(column for _, column in found[: (len(without) - 1) // 2])


def _interval(alpha: float | None, units: _Units) -> Interval | None:
    """Return the jackknife's interval for decisions, and otherwise the posterior interval, which suits rare failures.

    Pass rates with more than MAX_KINDS kinds of scenarios also get the jackknife's, because then none of them is rare.
    """
    counts = {unit: times for unit, times in units.counted().items() if unit.raters > 1}
    if alpha is None or units.size > 2 or len(counts) > MAX_KINDS:
        return _jackknife_interval(alpha, units)
    return alpha_posterior_interval(alpha, counts)


def _rare_scenarios(units: _Units) -> int | None:
    counts = units.counted()
    totals = [fsum(unit.totals[code] * times for unit, times in counts.items()) for code in range(units.size)]
    if not any(totals):
        return None
    usual = totals.index(max(totals))
    return sum(times for unit, times in counts.items() if unit.totals[usual] < unit.raters * (1 - _TINY))


def _jackknife_interval(alpha: float | None, units: _Units) -> Interval | None:
    def alpha_without(group: int) -> float | None:
        return units.total.plus(units.groups[group], -1).alpha()

    reach = _jackknife_reach(units.numbers_of_groups, alpha_without)
    return None if alpha is None or reach is None else Interval(max(-1.0, alpha - reach), min(1.0, alpha + reach))


def _jackknife_reach(groups: Sequence[int], value_without: Callable[[int], float | None]) -> float | None:
    """Return half the width of a 95 % interval by the jackknife over groups of scenarios. See Efron and Tibshirani
    1993, chapter 11. The result is None if the value is undefined without some group."""
    if len(groups) < MIN_SCENARIOS:
        return None
    left = [value for group in groups if (value := value_without(group)) is not None]
    if len(left) < len(groups):
        return None
    count, mean = len(left), fsum(left) / len(left)
    error = sqrt((count - 1) / count * fsum((value - mean) ** 2 for value in left))
    return float(t_quantile(0.975, count - 1) * error)
