"""How each target answers: the shares of its decisions, or its pass rate."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cupel.json_types import Json
from cupel.plots.style import (
    BLUE,
    CODES,
    DARK,
    GRAY,
    LIGHT,
    MAX_ROWS,
    labels,
    new_figure,
    text_color_on,
    title_of,
    width_of,
)
from cupel_core.domain.text.figures import UNKNOWN, format_decimal

_MIN_NUMBERED = 0.055
"""Of a share whose percentage fits into its bar."""


def draw_distribution(figures: Json, names: Sequence[str]) -> Figure | None:
    """A row per target; None if no probe completed."""
    answering = [
        (label, column["estimate"])
        for label, column in zip(labels(names), figures["columns"], strict=True)
        if column["estimate"]["completed"]
    ]
    rows = answering[:MAX_ROWS]
    if not rows:
        return None
    is_decision = figures["metric"] == "DECISION"
    title = "Decisions of each target" if is_decision else "Pass rate of each target, with its 95% interval"
    title = title_of(title, len(rows), len(answering))
    figure, axes = new_figure(
        title, 6.0 + width_of([label for label, _ in rows]), (1.3 if is_decision else 1.0) + 0.34 * len(rows)
    )
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    if is_decision:
        _draw_decisions(axes, [estimate for _, estimate in rows])
    else:
        _draw_pass_rates(axes, [estimate for _, estimate in rows])
    return figure


def _draw_decisions(axes: Axes, estimates: Sequence[Json]) -> None:
    axes.spines[:].set_visible(False)
    axes.tick_params(left=False, bottom=False)
    shares = [[each["estimate"]["share"] or 0.0 for each in estimate["distribution"]] for estimate in estimates]
    for number, (code, color) in enumerate(CODES.items()):
        values = [row[number] for row in shares]
        starts = [sum(row[:number]) for row in shares]
        is_other = code == "other"
        axes.barh(
            range(len(values)),
            values,
            left=starts,
            color=color,
            edgecolor=GRAY if is_other else "white",
            hatch="////" if is_other else None,
            linewidth=0.6,
            height=0.72,
            label=code,
        )
        for row, (value, start) in enumerate(zip(values, starts, strict=True)):
            if value >= _MIN_NUMBERED:
                color_of_text = text_color_on(color)
                background = {"facecolor": "white", "edgecolor": "none", "pad": 1} if is_other else None
                text, x = f"{100 * value:.0f}", start + value / 2
                axes.text(x, row, text, ha="center", va="center", fontsize=8, color=color_of_text, bbox=background)
    for row, estimate in enumerate(estimates):
        mean = estimate["decision"]["mean"]
        text = UNKNOWN if mean is None else f"mean {format_decimal(mean)}"
        axes.text(1.015, row, text, ha="left", va="center", fontsize=8, color=DARK)
    axes.legend(ncols=len(CODES), loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, handlelength=1.2)


def _draw_pass_rates(axes: Axes, estimates: Sequence[Json]) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.grid(axis="x", color=LIGHT, linewidth=0.8)
    axes.set_axisbelow(True)
    for row, estimate in enumerate(estimates):
        rate = estimate["passRate"]
        if rate["share"] is None:
            axes.text(0, row, "nothing was judged", va="center", fontsize=8, color=GRAY)
            continue
        if rate["interval95"]:
            axes.plot(rate["interval95"], [row, row], color=BLUE, linewidth=2, solid_capstyle="butt")
        axes.plot([rate["share"]], [row], "o", color=BLUE, markersize=6)
