"""Writes figures of comparisons in words, for the terminal and for gates."""

from cupel.columns import column_of
from cupel.json_types import Json
from cupel.terminal import NO_VALUE
from cupel_core.domain.text import figures as figures_as_text
from cupel_core.domain.text.figures import format_decimal, format_percent, format_points


def rows_of(figures: Json) -> list[Json]:
    """Return the rows of a comparison, the one of all pairs last."""
    return [*figures["rows"], *([figures["overall"]] if figures["overall"] else [])]


def row_title(row: Json) -> str:
    """Name the column, or both if the sides differ. The page calls all of them together by the same name."""
    sides = [row[name] for name in ("baseline", "comparison")]
    if any(len(side) > 1 for side in sides):
        return "all targets together"
    before, after = (column_of(side[0]).name for side in sides)
    return f"{before} → {after}" if row["isSubstituted"] else after


def _is_rate(figures: Json) -> bool:
    return str(figures["metric"]) != "DECISION"


def format_value(figures: Json, value: float | None) -> str:
    """`figures` have the metric."""
    return format_percent(value) if _is_rate(figures) else format_decimal(value)


def format_difference(figures: Json, value: float | None) -> str:
    """Return `+0.42`, or `+4.2 pp` for rates."""
    return format_points(value) if _is_rate(figures) else figures_as_text.format_difference(value)


def format_interval(figures: Json, interval: list[float] | None) -> str:
    """Return a text such as `+0.18 to +0.66`."""
    return NO_VALUE if interval is None else " to ".join(format_difference(figures, bound) for bound in interval)
