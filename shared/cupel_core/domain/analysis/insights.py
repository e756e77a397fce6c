"""Writes what an analysis shows as sentences; rules decide which facts are worth one, and no model is asked."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cupel_core.domain.analysis.basic import BasicAnalysis
from cupel_core.domain.analysis.cautions import HIGH_OTHER
from cupel_core.domain.analysis.dimensions import DimensionAnalysis, DimensionFigures, Trend
from cupel_core.domain.analysis.extrapolation import extrapolation_text
from cupel_core.domain.analysis.insight_texts import Insight, enumerate_names, format_p, format_value, measure
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.outlier_causes import OutlierCause
from cupel_core.domain.text.figures import format_decimal, format_interval, format_percent, format_points_apart

MAX_INSIGHTS = 12
_MAX_OUTLIERS = 3
_HIGH_ERRORS = 0.10


_LEVEL = 0.05


def insights(found: BasicAnalysis, names: tuple[str, ...]) -> tuple[Insight, ...]:
    rules = (
        _sample(found, names),
        _extremes(found, names),
        strongest_effect(found.dimensions, found.metric, names),
        without_effect(found.dimensions),
        _outliers(found, names),
        _agreement(found),
        _contested(found),
        strongest_trend(found.dimensions, found.metric, names),
        _other(found, names),
        _errors(found, names),
    )
    return tuple(insight for rule in rules for insight in rule)[:MAX_INSIGHTS]


def _sample(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    sample = found.sample
    if sample is None or not sample.is_partial:
        return
    facts = {"scenarios": sample.scenarios, "total": sample.total, "probesToAdd": sample.probes_to_add}
    yield Insight("sample", " ".join(filter(None, (sample.note, sample.expansion))), facts)
    extrapolated = [each.extrapolated and each.extrapolated.of(found.metric) for each in found.columns]
    named = [(name, each.interval) for name, each in zip(names, extrapolated, strict=True) if each and each.interval]
    if named:
        text = extrapolation_text(sample, found.metric, named)
        yield Insight("extrapolation", text, {"intervals": {name: list(interval) for name, interval in named}})


def _extremes(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    values = [
        (value, number)
        for number, each in enumerate(found.estimates)
        if (value := each.value(found.metric)) is not None
    ]
    if len(values) < 2:
        return
    (low, lowest), (high, highest) = min(values), max(values)
    if low == high:
        return
    text = (
        f"{_names_with(high, values, names)} has the highest {measure(found.metric)} "
        f"({format_value(high, found.metric)}), {_names_with(low, values, names)} the lowest "
        f"({format_value(low, found.metric)})."
    )
    yield Insight("extremes", text, {"highest": highest, "high": high, "lowest": lowest, "low": low})


def _names_with(value: float, values: list[tuple[float, int]], names: tuple[str, ...]) -> str:
    return enumerate_names([names[number] for each, number in values if each == value])


def _outliers(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    agreed = found.agreement
    for column in agreed.outliers[:_MAX_OUTLIERS] if agreed else ():
        left_out = agreed.without[column] if agreed else None
        if agreed is not None and left_out is not None and agreed.alpha is not None and left_out.alpha is not None:
            text = (
                f"{names[column]} agrees less with the others than they do: without it, their agreement rises from "
                f"{format_decimal(agreed.alpha)} to {format_decimal(left_out.alpha)}. {_cause(found, column)}"
            )
            facts = {"column": column, "gain": left_out.gain, "cause": found.columns[column].outlier_cause}
            yield Insight("outlier", text, facts)


def _cause(found: BasicAnalysis, column: int) -> str:
    match found.columns[column].outlier_cause:
        case OutlierCause.OPINION:
            return "It is of another opinion: its repeats do not explain the difference."
        case OutlierCause.NOISE:
            return "It is less consistent: its repeats differ more from each other than those of the others."
        case _:
            return "Without repeats, it is unknown whether it is of another opinion or less consistent."


def _agreement(found: BasicAnalysis) -> Iterator[Insight]:
    agreed = found.agreement
    if agreed is not None and agreed.alpha is not None and agreed.level is not None:
        bounds = format_interval(agreed.interval, format_decimal)
        interval = f", 95% interval {bounds}" if bounds else ""
        subject = "" if found.metric is Metric.DECISION else " on which scenarios pass"
        alpha = format_decimal(agreed.alpha)
        ac1 = "" if agreed.ac1 is None else f"; Gwet's AC1 {format_decimal(agreed.ac1)}"
        text = f"Agreement between the targets{subject} is {agreed.level} (alpha {alpha}{interval}{ac1})."
        yield Insight("agreement", text, {"alpha": agreed.alpha})


def _contested(found: BasicAnalysis) -> Iterator[Insight]:
    """Yield the most contested scenario, unless the differences are no larger than the noise of repeats."""
    first = next(iter(found.contested), None)
    if first is not None and first.excess > 0:
        scenario = found.scenarios[first.scenario]
        if found.metric is Metric.DECISION:
            spread = f"the targets are {format_decimal(first.range)} points apart"
        elif first.range == 1:
            spread = "some targets always pass it, others never"
        else:
            spread = f"the pass rates of the targets are up to {format_points_apart(first.range)} apart"
        text = f"The most contested scenario is “{scenario.name}”: {spread}."
        yield Insight("contested", text, {"scenarioId": scenario.id, "range": first.range})


def _other(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    shares = [
        (names[number], each.other_rate.share)
        for number, each in enumerate(found.estimates)
        if found.metric is Metric.DECISION and (each.other_rate.share or 0.0) > HIGH_OTHER
    ]
    if shares:
        listed = enumerate_names([f"{name} ({format_percent(share)})" for name, share in shares])
        yield Insight("other", f"Many answers have no readable decision: {listed}.", {"shares": dict(shares)})


def _errors(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    rates = [
        (names[number], each.error_rate)
        for number, each in enumerate(found.estimates)
        if (each.error_rate or 0.0) > _HIGH_ERRORS
    ]
    if rates:
        listed = enumerate_names([f"{name} ({format_percent(rate)})" for name, rate in rates])
        yield Insight(
            "errors",
            f"Many conversations errored, which counts neither for nor against: {listed}.",
            {"rates": dict(rates)},
        )


class _DimensionPart(NamedTuple):
    dimension: DimensionAnalysis
    column: int | None
    figures: DimensionFigures

    def prefix(self, names: Sequence[str]) -> str:
        return "" if self.column is None else f"for {names[self.column]}, "


def strongest_effect(
    dimensions: Sequence[DimensionAnalysis], metric: Metric, names: Sequence[str]
) -> Iterator[Insight]:
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
    """Yield the tested dimensions in which neither levels nor a trend show an effect for any target."""
    names = [
        each.name
        for each in dimensions
        if each.overall.effect.adjusted_p is not None
        and not any(_is_effect_shown(part) or _is_trend_shown(part) or _is_line(part.trend) for part in each.parts)
    ]
    if names:
        yield Insight("noEffect", f"No effect can be shown of {enumerate_names(names)}.", {"dimensions": names})


def _parts(dimensions: Sequence[DimensionAnalysis]) -> Iterator[_DimensionPart]:
    """Yield all targets together first, so that their figures are preferred among equal ones."""
    for dimension in dimensions:
        yield _DimensionPart(dimension, None, dimension.overall)
    for dimension in dimensions:
        for column, figures in enumerate(dimension.columns):
            yield _DimensionPart(dimension, column, figures)


def _is_effect_shown(figures: DimensionFigures) -> bool:
    return figures.effect.eta_squared is not None and _is_significant(figures.effect.adjusted_p)


def _is_trend_shown(figures: DimensionFigures) -> bool:
    """Return whether the slope is significant; if answers lie on a line, the test of the levels decides instead."""
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
    """Return "level" if levels have consecutive scores, so that a unit of the score is a level, and else "unit"."""
    is_level = dimension.levels and all(after - before == 1 for before, after in pairwise(dimension.levels))
    return "level" if is_level else "unit"
