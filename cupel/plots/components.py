"""Where targets lie along the first two principal components: near ones answer alike."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, BboxBase

from cupel.json_types import Json
from cupel.plots.style import BLUE, DARK, GRAY, LIGHT, ORANGE, labels, new_figure
from cupel_core.domain.text.figures import format_decimal, format_percent

_MIN_CORRELATION = 0.3
_MAX_NAMED = 40
"""Targets that are named; of more, only outliers are."""
_OFFSETS = (
    *((8, 0), (-8, 0), (0, 9), (0, -9), (7, 7), (-7, 7), (7, -7), (-7, -7)),
    *((0, 20), (0, -20), (22, 14), (-22, -14)),
)
"""Where a label may stand, in points from its target: the first that covers no other."""
_OUTSIDE = 10
"""As many covered labels are better than one that is cut."""


class _PlacedTarget(NamedTuple):
    column: int
    x: float
    y: float
    is_outlier: bool


def draw_components(deep: Json, names: Sequence[str]) -> Figure | None:
    """A point per target; None without components."""
    found = deep["components"]
    if found is None:
        return None
    figure, axes = new_figure("Targets by their answers: near ones answer alike", 6.6, 5.4)
    axes.axhline(0, color=LIGHT, linewidth=1, zorder=0)
    axes.axvline(0, color=LIGHT, linewidth=1, zorder=0)
    places = list(_places(deep))
    for is_outlier, color, marker, label in ((False, BLUE, "o", "target"), (True, ORANGE, "D", "outlier")):
        chosen = [place for place in places if place.is_outlier is is_outlier]
        if chosen:
            axes.plot([each.x for each in chosen], [each.y for each in chosen], marker, color=color, label=label)
    axes.set_xlabel(_axis(found, 0))
    axes.set_ylabel(_axis(found, 1))
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.18)
    if any(place.is_outlier for place in places):
        axes.legend(loc="best")
    _name(figure, axes, places, labels(names))
    return figure


def _places(deep: Json) -> Iterator[_PlacedTarget]:
    found = deep["components"]
    outliers = {each["column"] for each in (deep["outlierTargets"] or {"targets": ()})["targets"] if each["isOutlier"]}
    first, *others = (component["coordinates"] for component in found["components"])
    second = others[0] if others else [0.0] * len(first)
    for column, x, y in zip(found["columns"], first, second, strict=True):
        yield _PlacedTarget(column, x, y, column in outliers)


def _axis(found: Json, number: int) -> str:
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


def _name(figure: Figure, axes: Axes, places: Sequence[_PlacedTarget], texts: Sequence[str]) -> None:
    named = [place for place in places if place.is_outlier or len(places) <= _MAX_NAMED]
    figure.draw_without_rendering()
    points = axes.transData.transform([(place.x, place.y) for place in places])
    taken = [Bbox.from_extents(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for place in sorted(named, key=lambda each: (each.x, each.y)):
        taken.append(_write(figure, axes, place, texts[place.column], taken))


def _write(figure: Figure, axes: Axes, place: _PlacedTarget, text: str, taken: Sequence[Bbox]) -> Bbox:
    """The label at the offset where it covers least, the first of these."""

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
