from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cupel.json_types import Json
from cupel.plots.style import BLUE, GRAY, LIGHT, MAX_ROWS, labels, new_figure, text_color_on, title_of, width_of
from cupel_core.domain.text.figures import format_decimal

_MAX_NUMBERED = 16
_COLORS = "PuOr"
"""Diverging, and readable for color-blind readers: disagreement is orange, agreement purple."""
_MAX_LARGE = 8
_MAX_PAIRS = 15
"""Of more pairs, only the differences from the first target are drawn."""
_LEGEND = "filled: 0 is outside"
_CAUTION = "not adjusted for the number of pairs"
_TO_THE_RIGHT = "\u200e"
"""The mark around the minus sign, which would otherwise be mirrored between two names written from right to left."""


def draw_agreement(figures: Json, names: Sequence[str]) -> Figure | None:
    kappas = {
        (pair["first"], pair["second"]): pair["kappa"]
        for pair in (figures["agreement"] or {"pairs": ()})["pairs"]
        if pair["kappa"] is not None
    }
    comparable = sorted({column for pair in kappas for column in pair})
    columns = comparable[:MAX_ROWS]
    if not columns:
        return None
    title = title_of("Agreement of each two targets" + _alpha(figures), len(columns), len(comparable))
    side = max(2.6, 0.42 * len(columns))
    texts = [labels(names)[column] for column in columns]
    figure, axes = new_figure(title, side + 2.2 + width_of(texts), side + 0.8 + 0.65 * width_of(texts))
    _draw_squares(axes, columns, kappas)
    _label_squares(axes, texts)
    _draw_scale(figure, axes)
    return figure


def _draw_squares(axes: Axes, columns: Sequence[int], kappas: Mapping[tuple[int, int], float]) -> None:
    is_numbered, fontsize = len(columns) <= _MAX_NUMBERED, 8 if len(columns) <= _MAX_LARGE else 7
    for (row, first), (place, second) in product(enumerate(columns), repeat=2):
        kappa = kappas.get((min(first, second), max(first, second)))
        color = LIGHT if kappa is None else mpl.colors.to_hex(mpl.colormaps[_COLORS]((kappa + 1) / 2))
        axes.add_patch(mpl.patches.Rectangle((place - 0.48, row - 0.48), 0.96, 0.96, color=color, linewidth=0))
        if is_numbered and kappa is not None:
            _write_kappa(axes, place, row, format_decimal(kappa), color=text_color_on(color), fontsize=fontsize)


def _write_kappa(axes: Axes, x: int, y: int, text: str, *, color: str, fontsize: int) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=fontsize, color=color)


def _label_squares(axes: Axes, texts: Sequence[str]) -> None:
    size = len(texts)
    axes.set_xticks(range(size), texts, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), texts)
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.spines[:].set_visible(False)
    axes.tick_params(left=False, bottom=False)


def _draw_scale(figure: Figure, axes: Axes) -> None:
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(-1, 1), mpl.colormaps[_COLORS])
    bar = figure.colorbar(scale, ax=axes, aspect=24, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["−1", "−0.5", "0: as by chance", "0.5", "1: same answers"])
    bar.set_label("kappa")
    bar.outline.set_visible(False)


def _alpha(figures: Json) -> str:
    alpha = figures["agreement"]["alpha"]
    return "" if alpha is None else f" (alpha of all: {format_decimal(alpha)})"


class _Difference(NamedTuple):
    label: str
    difference: float
    interval: list[float] | None

    @property
    def is_clear(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def draw_differences(figures: Json, names: Sequence[str]) -> Figure | None:
    pairs = [pair for pair in (figures["agreement"] or {"pairs": ()})["pairs"] if pair["difference"] is not None]
    if not pairs:
        return None
    reference = pairs[0]["first"] if len(pairs) > _MAX_PAIRS else None
    texts = labels(names)
    found = list(_differences(pairs, texts, reference))
    rows = found[:MAX_ROWS]
    source = "" if reference is None else f" from {texts[reference]}"
    title = title_of(f"Differences of the targets' means{source}", len(rows), len(found))
    figure, axes = new_figure(title, 5.2 + width_of([row.label for row in rows]), 1.65 + 0.3 * len(rows))
    unit = "points" if figures["metric"] == "DECISION" else "share of passes"
    axes.set_xlabel(f"{unit}, with 95% intervals ({_LEGEND})\n{_CAUTION}")
    _draw_differences(axes, rows)
    return figure


def _draw_differences(axes: Axes, rows: Sequence[_Difference]) -> None:
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


def _differences(pairs: Sequence[Json], texts: Sequence[str], reference: int | None) -> Iterator[_Difference]:
    for pair in pairs:
        if reference in (None, pair["first"]):
            second, first = texts[pair["second"]], texts[pair["first"]]
            label = f"{second}{_TO_THE_RIGHT} − {_TO_THE_RIGHT}{first}" if reference is None else second
            yield _Difference(label, pair["difference"], pair["interval95"])
