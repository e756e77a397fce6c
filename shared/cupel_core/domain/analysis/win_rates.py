"""How often a target decides for one of two dimensions, where the definition says which code favors which."""

from collections.abc import Iterable, Mapping
from math import fsum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, share_interval


@dataclass(frozen=True)
class WinRate:
    """Of one dimension and one column."""

    dimension: str
    prioritized: int
    """Answers for it: 4 and 5, or 1 and 2."""
    opposed: int
    """Answers for the other dimension."""
    neutral: int
    scenarios: int
    """With a decided answer."""
    rate: float | None
    """Mean over scenarios of the share for it; each scenario counts once. Never 0.5 for want of answers."""
    interval: Interval | None
    """It is Wilson's of 95 %, with the scenarios as trials; None for fewer than MIN_SCENARIOS."""


def win_rates(favors: Mapping[str, str], cells: Mapping[Cell, int]) -> tuple[WinRate, ...]:
    """`favors` has the dimensions that the codes `1` and `5` favor; `cells` say how many scenarios have each cell.

    Empty without `favors`.
    """
    return tuple(
        _win_rate(favors[code], _FOR[code], _FOR[other], cells) for code, other in (("5", "1"), ("1", "5")) if favors
    )


_FOR = {"5": (3, 4), "1": (0, 1)}
"""The positions in a cell of the codes that prioritize the dimension of a code."""


def _win_rate(dimension: str, mine: Iterable[int], others: Iterable[int], cells: Mapping[Cell, int]) -> WinRate:
    decided = [(cell, times) for cell, times in cells.items() if cell.decided]
    scenarios = sum(times for _, times in decided)
    share = fsum(sum(cell[code] for code in mine) / cell.decided * times for cell, times in decided)
    rate = share / scenarios if scenarios else None
    return WinRate(
        dimension=dimension,
        prioritized=sum(cell[code] * times for cell, times in decided for code in mine),
        opposed=sum(cell[code] * times for cell, times in decided for code in others),
        neutral=sum(cell.code_3 * times for cell, times in decided),
        scenarios=scenarios,
        rate=rate,
        interval=None if rate is None or scenarios < MIN_SCENARIOS else share_interval(rate, scenarios, scenarios),
    )
