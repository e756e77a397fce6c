from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, BboxBase

from cupel.json_types import Json
from cupel.plots.pairs import draw_agreement, draw_differences
from cupel.plots.style import (
    BLUE,
    CODES,
    DARK,
    GRAY,
    LIGHT,
    MAX_ROWS,
    ORANGE,
    cupel_style,
    labels,
    new_figure,
    save,
    text_color_on,
    title_of,
    width_of,
)
from cupel_core.domain.text.figures import UNKNOWN, format_decimal, format_percent

_NOT_DRAWN = {
    "distribution": "no conversation has completed",
    "agreement": "no two targets have answered the same scenarios",
    "differences": "no two targets have answered the same scenarios",
}
_MIN_NUMBERED = 0.055
_MIN_CORRELATION = 0.3
_MAX_NAMED = 40
"""Number of targets that are named; of more, only outliers are."""
_OFFSETS = (
    *((8, 0), (-8, 0), (0, 9), (0, -9), (7, 7), (-7, 7), (7, -7), (-7, -7)),
    *((0, 20), (0, -20), (22, 14), (-22, -14)),
)
"""A label may have one of these offsets in points from its target; the first without an overlap is used."""
_OUTSIDE = 10
"""Number of covered labels that are better than one label that is cut."""


class DrawnPlots(NamedTuple):
    files: list[Path]
    omitted: dict[str, str]


def draw_plots(basic: Json, deep: Json, names: Sequence[str], folder: Path) -> DrawnPlots:
    """Store each figure as SVG and PNG in a folder, which is created. `names` are those of the columns.

    `basic` and `deep` are figures of analyses of the same run. Files of earlier figures are replaced.
    """
    drawings: dict[str, Callable[[], Figure | None]] = {
        "distribution": lambda: draw_distribution(basic, names),
        "agreement": lambda: draw_agreement(basic, names),
        "components": lambda: draw_components(deep, names),
        "differences": lambda: draw_differences(basic, names),
    }
    drawn = DrawnPlots([], {})
    folder.mkdir(parents=True, exist_ok=True)
    with cupel_style():
        for name, draw in drawings.items():
            figure = draw()
            if figure is None:
                drawn.omitted[name] = _NOT_DRAWN.get(name) or _why_without_components(deep)
            else:
                drawn.files.extend(save(figure, folder, name))
    return drawn


def _why_without_components(deep: Json) -> str:
    reasons = {part["part"]: part["reason"] for part in deep["unavailable"]}
    return str(reasons["components"])


def draw_distribution(figures: Json, names: Sequence[str]) -> Figure | None:
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


class _PlacedTarget(NamedTuple):
    column: int
    x: float
    y: float
    is_outlier: bool


def draw_components(deep: Json, names: Sequence[str]) -> Figure | None:
    found = deep["components"]
    if found is None:
        return None
    figure, axes = new_figure("Targets by their answers: near ones answer alike", 6.6, 5.4)
    axes.axhline(0, color=LIGHT, linewidth=1, zorder=0)
    axes.axvline(0, color=LIGHT, linewidth=1, zorder=0)
    places = list(_placed_targets(deep))
    for is_outlier, color, marker, label in ((False, BLUE, "o", "target"), (True, ORANGE, "D", "outlier")):
        chosen = [place for place in places if place.is_outlier is is_outlier]
        if chosen:
            axes.plot([each.x for each in chosen], [each.y for each in chosen], marker, color=color, label=label)
    axes.set_xlabel(_axis_label(found, 0))
    axes.set_ylabel(_axis_label(found, 1))
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.18)
    if any(place.is_outlier for place in places):
        axes.legend(loc="best")
    _name_targets(figure, axes, places, labels(names))
    return figure


def _placed_targets(deep: Json) -> Iterator[_PlacedTarget]:
    found = deep["components"]
    outliers = {each["column"] for each in (deep["outlierTargets"] or {"targets": ()})["targets"] if each["isOutlier"]}
    first, *others = (component["coordinates"] for component in found["components"])
    second = others[0] if others else [0.0] * len(first)
    for column, x, y in zip(found["columns"], first, second, strict=True):
        yield _PlacedTarget(column, x, y, column in outliers)


def _axis_label(found: Json, number: int) -> str:
    if number >= len(found["components"]):
        return "targets differ in one direction only"
    component = found["components"][number]
    related = ", ".join(
        f"{labels([each['dimension']])[0]} (r {format_decimal(each['correlation'])})"
        for each in component["dimensions"]
        if abs(each["correlation"] or 0.0) >= _MIN_CORRELATION
    )
    chance = "more than chance" if component["isAboveChance"] else "no more than chance"
    text = f"Component {number + 1}: {format_percent(component['explainedShare'])} of the differences, {chance}"
    return text + (f"\ngoes with {related}" if related else "")


def _name_targets(figure: Figure, axes: Axes, places: Sequence[_PlacedTarget], texts: Sequence[str]) -> None:
    named = [place for place in places if place.is_outlier or len(places) <= _MAX_NAMED]
    figure.draw_without_rendering()
    points = axes.transData.transform([(place.x, place.y) for place in places])
    taken = [Bbox.from_extents(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for place in sorted(named, key=lambda each: (each.x, each.y)):
        taken.append(_write(figure, axes, place, texts[place.column], taken))


def _write(figure: Figure, axes: Axes, place: _PlacedTarget, text: str, taken: Sequence[Bbox]) -> Bbox:
    def box_at(offset: tuple[int, int]) -> Bbox:
        label = _annotate(axes, place, text, offset)
        box = label.get_window_extent()
        label.remove()
        return box

    def covered(offset: tuple[int, int]) -> int:
        box = box_at(offset)
        return sum(box.overlaps(other) for other in taken) + _OUTSIDE * (not _contains(figure.bbox, box))

    best = min(_OFFSETS, key=covered)
    _annotate(axes, place, text, best)
    return box_at(best)


def _contains(outer: BboxBase, inner: Bbox) -> bool:
    return all(map(outer.containsx, (inner.x0, inner.x1))) and all(map(outer.containsy, (inner.y0, inner.y1)))


def _annotate(axes: Axes, place: _PlacedTarget, text: str, offset: tuple[int, int]) -> Annotation:
    right, above = offset
    label = axes.annotate(
        text,
        (place.x, place.y),
        xytext=offset,
        textcoords="offset points",
        ha="left" if right > 0 else "right" if right < 0 else "center",
        va="bottom" if above > 0 else "top" if above < 0 else "center",
        fontsize=8,
        color=DARK,
        arrowprops={"arrowstyle": "-", "color": GRAY, "linewidth": 0.6} if abs(above) > 9 else None,
    )
    label.set_in_layout(False)
    return label
