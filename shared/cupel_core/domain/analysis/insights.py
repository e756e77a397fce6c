"""What an analysis says, in sentences: rules decide which facts are worth one, and no model is asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cupel_core.domain.analysis.basic import BasicAnalysis
from cupel_core.domain.analysis.cautions import HIGH_OTHER
from cupel_core.domain.analysis.dimensions import DimensionAnalysis, DimensionFigures, Trend
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval

MAX_INSIGHTS = 12
_LEVEL = 0.05
_HIGH_ERRORS = 0.10


@dataclass(frozen=True)
class Insight:
    kind: str
    text: str
    facts: Mapping[str, Any]
    """The figures that the text rests on."""


def insights(found: BasicAnalysis, names: tuple[str, ...]) -> tuple[Insight, ...]:
    """`names` are those of the columns, for people."""
    rules = (
        _sample(found),
        _extremes(found, names),
        _strongest(found, names),
        _without_effect(found),
        _outliers(found, names),
        _agreement(found),
        _contested(found),
        _trend(found),
        _other(found, names),
        _errors(found, names),
    )
    return tuple(insight for rule in rules for insight in rule)[:MAX_INSIGHTS]


def format_value(value: float | None, metric: Metric) -> str:
    """A mean code as `3.42`, a share as `86 %`."""
    if value is None:
        return "—"
    return f"{value:.2f}" if metric is Metric.DECISION else f"{100 * value:.3g} %"


def format_interval(interval: Interval | None, metric: Metric) -> str:
    """`3.10 to 3.74`; empty without one."""
    if interval is None:
        return ""
    return f"{format_value(interval.low, metric)} to {format_value(interval.high, metric)}"


def format_p(p: float | None) -> str:
    """`p 0.012`, `p < 0.001`."""
    if p is None:
        return "no p"
    return "p < 0.001" if p < 0.001 else f"p {p:.2g}"


def _measure(metric: Metric) -> str:
    return "mean" if metric is Metric.DECISION else "pass rate"


def _sample(found: BasicAnalysis) -> Iterator[Insight]:
    if found.sample is not None and (note := found.sample.note):
        yield Insight("sample", note, {"scenarios": found.sample.scenarios})


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
        f"{names[highest]} has the highest {_measure(found.metric)} ({format_value(high, found.metric)}), "
        f"{names[lowest]} the lowest ({format_value(low, found.metric)})."
    )
    yield Insight("extremes", text, {"highest": highest, "high": high, "lowest": lowest, "low": low})


def _strongest(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    """The largest effect that can be shown: on all targets together, or on one of them."""
    shown = [
        (part.effect.eta_squared, dimension, number)
        for dimension in found.dimensions
        for number, part in enumerate(dimension.parts)
        if part.effect.eta_squared is not None and _is_significant(part.effect.adjusted_p) and part.levels
    ]
    if not shown:
        return
    eta_squared, dimension, number = max(shown, key=lambda each: each[0])
    part = dimension.parts[number]
    (first, low), *_, (last, high) = _level_values(dimension, part, found.metric)
    column = None if number == 0 else number - 1
    whose = "" if column is None else f"for {names[column]}, "
    text = (
        f"{dimension.name} matters most: {whose}its levels explain {eta_squared:.0%} of the differences between "
        f"scenarios ({_measure(found.metric)} {format_value(low, found.metric)} at {first:g}, "
        f"{format_value(high, found.metric)} at {last:g}, {format_p(part.effect.adjusted_p)})."
    )
    yield Insight("dimension", text, {"dimension": dimension.name, "etaSquared": eta_squared, "column": column})


def _level_values(dimension: DimensionAnalysis, part: DimensionFigures, metric: Metric) -> list[tuple[float, float]]:
    levels = zip(dimension.levels, part.levels, strict=True)
    return [(score, value) for score, each in levels if (value := each.value(metric)) is not None]


def _is_significant(p: float | None) -> bool:
    return p is not None and p < _LEVEL


def _without_effect(found: BasicAnalysis) -> Iterator[Insight]:
    names = [
        each.name
        for each in found.dimensions
        if each.overall.effect.adjusted_p is not None
        and not any(_is_significant(part.effect.adjusted_p) for part in each.parts)
    ]
    if names:
        text = f"No effect can be shown of {_enumerate(names)}."
        yield Insight("noEffect", text, {"dimensions": names})


def _outliers(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    agreed = found.agreement
    for column in agreed.outliers if agreed else ():
        left_out = agreed.without[column] if agreed else None
        if agreed is not None and left_out is not None and agreed.alpha is not None and left_out.alpha is not None:
            text = (
                f"{names[column]} answers unlike the others: without it, their agreement rises from "
                f"{agreed.alpha:.2f} to {left_out.alpha:.2f}."
            )
            yield Insight("outlier", text, {"column": column, "gain": left_out.gain})


def _agreement(found: BasicAnalysis) -> Iterator[Insight]:
    agreed = found.agreement
    if agreed is not None and agreed.alpha is not None and agreed.level is not None:
        interval = f", 95 % interval {agreed.interval.low:.2f} to {agreed.interval.high:.2f}" if agreed.interval else ""
        text = f"Agreement between the targets is {agreed.level} (alpha {agreed.alpha:.2f}{interval})."
        yield Insight("agreement", text, {"alpha": agreed.alpha})


def _contested(found: BasicAnalysis) -> Iterator[Insight]:
    first = next(iter(found.contested), None)
    if first is not None and first.variance > 0:
        scenario = found.scenarios[first.scenario]
        unit = "points" if found.metric is Metric.DECISION else "percentage points"
        spread = first.range if found.metric is Metric.DECISION else 100 * first.range
        text = f"The most contested scenario is “{scenario.name}”: the targets are {spread:.3g} {unit} apart."
        yield Insight("contested", text, {"scenarioId": scenario.id, "range": first.range})


def _trend(found: BasicAnalysis) -> Iterator[Insight]:
    trends = [(each.name, each.overall.trend) for each in found.dimensions if each.overall.trend is not None]
    significant = [(name, trend) for name, trend in trends if _is_significant(trend.adjusted_p)]
    if not significant:
        return
    name, trend = max(significant, key=lambda each: abs(each[1].correlation or 0.0))
    yield Insight("trend", _trend_text(name, trend, found.metric), {"dimension": name, "slope": trend.slope})


def _trend_text(name: str, trend: Trend, metric: Metric) -> str:
    verb = "rises" if trend.slope > 0 else "falls"
    amount = (
        f"{abs(trend.slope):.2f} points"
        if metric is Metric.DECISION
        else f"{100 * abs(trend.slope):.3g} percentage points"
    )
    correlation = "" if trend.correlation is None else f"r {trend.correlation:.2f}, "
    return f"The {_measure(metric)} {verb} by {amount} per step of {name} ({correlation}{format_p(trend.adjusted_p)})."


def _other(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    shares = [
        (names[number], each.other_rate.share)
        for number, each in enumerate(found.estimates)
        if found.metric is Metric.DECISION and (each.other_rate.share or 0.0) > HIGH_OTHER
    ]
    if shares:
        listed = _enumerate([f"{name} ({share:.0%})" for name, share in shares])
        yield Insight("other", f"Many answers have no readable decision: {listed}.", {"shares": dict(shares)})


def _errors(found: BasicAnalysis, names: tuple[str, ...]) -> Iterator[Insight]:
    rates = [
        (names[number], each.error_rate)
        for number, each in enumerate(found.estimates)
        if (each.error_rate or 0.0) > _HIGH_ERRORS
    ]
    if rates:
        listed = _enumerate([f"{name} ({rate:.0%})" for name, rate in rates])
        yield Insight(
            "errors", f"Many probes errored, which counts neither for nor against: {listed}.", {"rates": dict(rates)}
        )


def _enumerate(names: list[str]) -> str:
    """At most five."""
    shown = names[:5]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
