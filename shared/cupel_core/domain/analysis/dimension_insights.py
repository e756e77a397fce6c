"""What an analysis says about dimensions: of all targets together, and of single ones, which they may divide."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cupel_core.domain.analysis.dimensions import DimensionAnalysis, DimensionFigures, Trend
from cupel_core.domain.analysis.insight_texts import (
    Insight,
    enumerate_names,
    format_p,
    format_value,
    measure,
)
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.text.figures import format_decimal, format_percent, format_points_apart

_LEVEL = 0.05


class _DimensionPart(NamedTuple):
    """One dimension for all targets together, or for one of them."""

    dimension: DimensionAnalysis
    column: int | None
    figures: DimensionFigures

    def prefix(self, names: Sequence[str]) -> str:
        return "" if self.column is None else f"for {names[self.column]}, "


def strongest_effect(
    dimensions: Sequence[DimensionAnalysis], metric: Metric, names: Sequence[str]
) -> Iterator[Insight]:
    """The largest effect of levels that can be shown."""
    shown = [part for part in _parts(dimensions) if part.figures.levels and _is_effect_shown(part.figures)]
    if shown:
        part = max(shown, key=lambda each: each.figures.effect.eta_squared or 0.0)
        facts = {
            "dimension": part.dimension.name,
            "etaSquared": part.figures.effect.eta_squared,
            "column": part.column,
        }
        yield Insight("dimension", _effect_text(part, metric, names), facts)


def strongest_trend(dimensions: Sequence[DimensionAnalysis], metric: Metric, names: Sequence[str]) -> Iterator[Insight]:
    """The closest trend that can be shown."""
    shown = [
        (part, trend)
        for part in _parts(dimensions)
        if (trend := part.figures.trend) is not None and _is_trend_shown(part.figures)
    ]
    if shown:
        part, trend = max(shown, key=lambda each: abs(each[1].correlation or 0.0))
        facts = {"dimension": part.dimension.name, "slope": trend.slope, "column": part.column}
        yield Insight("trend", _trend_text(part, trend, metric, names), facts)


def without_effect(dimensions: Sequence[DimensionAnalysis]) -> Iterator[Insight]:
    """Those that were tested, and of which neither levels nor a trend show anything for any target."""
    names = [
        each.name
        for each in dimensions
        if each.overall.effect.adjusted_p is not None
        and not any(_is_effect_shown(part) or _is_trend_shown(part) or _is_line(part.trend) for part in each.parts)
    ]
    if names:
        yield Insight("noEffect", f"No effect can be shown of {enumerate_names(names)}.", {"dimensions": names})


def _parts(dimensions: Sequence[DimensionAnalysis]) -> Iterator[_DimensionPart]:
    """All targets together come first: of equal figures, theirs are named."""
    for dimension in dimensions:
        yield _DimensionPart(dimension, None, dimension.overall)
    for dimension in dimensions:
        for column, figures in enumerate(dimension.columns):
            yield _DimensionPart(dimension, column, figures)


def _is_effect_shown(figures: DimensionFigures) -> bool:
    return figures.effect.eta_squared is not None and _is_significant(figures.effect.adjusted_p)


def _is_trend_shown(figures: DimensionFigures) -> bool:
    """Answers on a line leave no error to test the slope with; then the test of the levels decides."""
    trend = figures.trend
    if trend is None:
        return False
    return _is_effect_shown(figures) if _is_line(trend) else _is_significant(trend.adjusted_p)


def _is_line(trend: Trend | None) -> bool:
    return trend is not None and trend.p is None


def _is_significant(p: float | None) -> bool:
    return p is not None and p < _LEVEL


def _effect_text(part: _DimensionPart, metric: Metric, names: Sequence[str]) -> str:
    effect = part.figures.effect
    levels = zip(part.dimension.levels, part.figures.levels, strict=True)
    values = [(score, value) for score, each in levels if (value := each.value(metric)) is not None]
    (first, low), *_, (last, high) = values
    return (
        f"{part.dimension.name} matters most: {part.prefix(names)}its levels explain "
        f"{format_percent(effect.eta_squared)} of the differences between scenarios ({measure(metric)} "
        f"{format_value(low, metric)} at {first:g}, {format_value(high, metric)} at {last:g}, "
        f"{format_p(effect.adjusted_p)})."
    )


def _trend_text(part: _DimensionPart, trend: Trend, metric: Metric, names: Sequence[str]) -> str:
    verb = "rises" if trend.slope > 0 else "falls"
    is_decision = metric is Metric.DECISION
    amount = f"{format_decimal(abs(trend.slope))} points" if is_decision else format_points_apart(trend.slope)
    known = [
        *([] if trend.correlation is None else [f"r {format_decimal(trend.correlation)}"]),
        "without exception" if _is_line(trend) else format_p(trend.adjusted_p),
    ]
    text = (
        f"{part.prefix(names)}the {measure(metric)} {verb} by {amount} per {_step(part.dimension)} of "
        f"{part.dimension.name} ({', '.join(known)})."
    )
    return text[0].upper() + text[1:]


def _step(dimension: DimensionAnalysis) -> str:
    """A trend is per unit of the score, which is a level if the levels' scores are consecutive."""
    is_level = dimension.levels and all(after - before == 1 for before, after in pairwise(dimension.levels))
    return "level" if is_level else "unit"
