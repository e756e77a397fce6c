"""How far each two targets give the same answers."""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cupel.json_types import Json
from cupel.plots.style import LIGHT, MAX_ROWS, labels, new_figure, text_color_on, title_of, width_of
from cupel_core.domain.text.figures import format_decimal

_MAX_NUMBERED = 16
"""Targets of which each square has its number."""
_COLORS = "PuOr"
"""Diverging, and readable for color-blind readers: disagreement is orange, agreement purple."""
_MAX_LARGE = 8


def draw_agreement(figures: Json, names: Sequence[str]) -> Figure | None:
    """A square per pair; None unless two targets can be compared."""
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
    _label(axes, texts)
    _draw_scale(figure, axes)
    return figure


def _draw_squares(axes: Axes, columns: Sequence[int], kappas: Mapping[tuple[int, int], float]) -> None:
    is_numbered, fontsize = len(columns) <= _MAX_NUMBERED, 8 if len(columns) <= _MAX_LARGE else 7
    for (row, first), (place, second) in product(enumerate(columns), repeat=2):
        kappa = kappas.get((min(first, second), max(first, second)))
        color = LIGHT if kappa is None else mpl.colors.to_hex(mpl.colormaps[_COLORS]((kappa + 1) / 2))
        axes.add_patch(mpl.patches.Rectangle((place - 0.48, row - 0.48), 0.96, 0.96, color=color, linewidth=0))
        if is_numbered and kappa is not None:
            _write(axes, place, row, format_decimal(kappa), color=text_color_on(color), fontsize=fontsize)


def _write(axes: Axes, x: int, y: int, text: str, *, color: str, fontsize: int) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=fontsize, color=color)


def _label(axes: Axes, texts: Sequence[str]) -> None:
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
