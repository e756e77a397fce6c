"""How much targets differ in their means, with intervals: a forest plot."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cupel.json_types import Json
from cupel.plots.style import BLUE, GRAY, LIGHT, MAX_ROWS, labels, new_figure, title_of, width_of

_MAX_PAIRS = 15
"""Of more, only the differences from the first target are drawn."""
_LEGEND = "filled: 0 is outside"
_CAUTION = "not adjusted for the number of pairs"
_TO_THE_RIGHT = "\u200e"
"""Around the minus sign, which would else turn round between two names that are written from right to left."""


class _Difference(NamedTuple):
    label: str
    difference: float
    interval: list[float] | None

    @property
    def is_clear(self) -> bool:
        """Whether zero is outside of the interval."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def draw_differences(figures: Json, names: Sequence[str]) -> Figure | None:
    """A row per pair of targets; None unless two can be compared."""
    pairs = [pair for pair in (figures["agreement"] or {"pairs": ()})["pairs"] if pair["difference"] is not None]
    if not pairs:
        return None
    reference = pairs[0]["first"] if len(pairs) > _MAX_PAIRS else None
    texts = labels(names)
    found = list(_rows(pairs, texts, reference))
    rows = found[:MAX_ROWS]
    source = "" if reference is None else f" from {texts[reference]}"
    title = title_of(f"Differences of the targets' means{source}", len(rows), len(found))
    figure, axes = new_figure(title, 5.2 + width_of([row.label for row in rows]), 1.65 + 0.3 * len(rows))
    unit = "points" if figures["metric"] == "DECISION" else "share of passes"
    axes.set_xlabel(f"{unit}, with 95% intervals ({_LEGEND})\n{_CAUTION}")
    _draw(axes, rows)
    return figure


def _draw(axes: Axes, rows: Sequence[_Difference]) -> None:
    """With zero in the middle."""
    axes.axvline(0, color=GRAY, linewidth=1)
    axes.grid(axis="x", color=LIGHT, linewidth=0.8)
    axes.set_axisbelow(True)
    for number, row in enumerate(rows):
        color = BLUE if row.is_clear else GRAY
        if row.interval is not None:
            axes.plot(row.interval, [number, number], color=color, linewidth=2, solid_capstyle="butt")
        fill = color if row.is_clear else "white"
        axes.plot([row.difference], [number], "o", color=color, markerfacecolor=fill, markersize=6)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    reach = max(map(abs, axes.get_xlim()))
    axes.set_xlim(-reach, reach)


def _rows(pairs: Sequence[Json], texts: Sequence[str], reference: int | None) -> Iterator[_Difference]:
    """Of all pairs, or of those with the reference."""
    for pair in pairs:
        if reference in (None, pair["first"]):
            second, first = texts[pair["second"]], texts[pair["first"]]
            label = f"{second}{_TO_THE_RIGHT} − {_TO_THE_RIGHT}{first}" if reference is None else second
            yield _Difference(label, pair["difference"], pair["interval95"])
