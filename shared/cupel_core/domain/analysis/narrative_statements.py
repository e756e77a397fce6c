"""Writes the sentences of a narrative by topic; rules choose the figures that are worth one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from cupel_core.domain.analysis.agreement import Agreement, agreement
from cupel_core.domain.analysis.deep import DeepAnalysis, Slope, TargetOutlyingness
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.insight_texts import format_interval, format_p, format_value, measure
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import NarrativeFact, NarrativeTopic
from cupel_core.domain.analysis.pairs import PairAgreement
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.figures import format_decimal, format_difference, format_percent, format_points
from cupel_core.domain.text.figures import format_interval as text_of_interval

_LEVEL = 0.05
_MAX_NAMED = 3


class Statement(NamedTuple):
    text: str
    facts: tuple[NarrativeFact, ...]


class Material(NamedTuple):
    found: DeepAnalysis
    matrix: CellMatrix
    names: tuple[str, ...]
    agreed: Agreement | None

    @property
    def all_names(self) -> tuple[str, ...]:
        """Return names, whose digits are no figures."""
        return (*self.names, *self.matrix.dimensions)

    @property
    def outliers(self) -> list[TargetOutlyingness]:
        compared = self.found.outlier_targets
        return [each for each in compared.targets if each.is_outlier] if compared else []


def _differences(material: Material) -> Iterator[Statement]:
    matrix, metric = material.matrix, material.matrix.metric
    values = [group_estimate(Counter(cells)).value(metric) for cells in matrix.columns]
    given = [(value, column) for column, value in enumerate(values) if value is not None]
    if len(given) < 2:
        return
    (low, lowest), (high, highest) = min(given), max(given)
    facts = [
        NarrativeFact(f"value:{column}", f"{measure(metric)} of {material.names[column]}", value)
        for value, column in ((high, highest), (low, lowest))
    ]
    text = (
        f"{material.names[highest]} has the highest {measure(metric)} ({format_value(high, metric)}), "
        f"{material.names[lowest]} the lowest ({format_value(low, metric)})"
    )
    pair = _pair(matrix, lowest, highest)
    if pair is not None and pair.interval is not None and pair.difference is not None:
        label = f"{material.names[highest]} less {material.names[lowest]}, by scenario"
        facts.append(NarrativeFact("difference", label, pair.difference, pair.interval, pair.scenarios))
        unit = " points" if metric is Metric.DECISION else ""
        text += f"; scenario by scenario they differ by {format_value(pair.difference, metric)}{unit}"
        text += f" (95% interval {format_interval(pair.interval, metric)})"
    yield Statement(f"{text}.", tuple(facts))
    if material.found.variance is not None:
        share = NarrativeFact(
            "variance:target", "share of the variance between targets", material.found.variance.target
        )
        yield Statement(f"{format_percent(share.value)} of the variance of answers is between targets.", (share,))


def _pair(matrix: CellMatrix, first: int, second: int) -> PairAgreement | None:
    found = agreement([matrix.columns[first], matrix.columns[second]], matrix.metric)
    return found.pairs[0] if found is not None else None


def _agreement(material: Material) -> Iterator[Statement]:
    agreed = material.agreed
    if agreed is None or agreed.alpha is None or agreed.level is None:
        return
    fact = NarrativeFact(
        "alpha", "Krippendorff's alpha of all targets", agreed.alpha, agreed.interval, agreed.scenarios
    )
    bounds = text_of_interval(agreed.interval, format_decimal)
    interval = f", 95% interval {bounds}" if bounds else ""
    text = f"Agreement between the targets is {agreed.level} over {count_of(agreed.scenarios, 'scenario')}"
    yield Statement(f"{text} (alpha {format_decimal(agreed.alpha)}{interval}).", (fact,))


def _dimensions(material: Material) -> Iterator[Statement]:
    effects = material.found.effects
    if effects is None:
        return
    slopes = [
        (slope, regression.column)
        for regression in effects.regressions
        for slope in regression.slopes
        if slope.adjusted_p is not None
    ]
    shown = [each for each in slopes if _is_clear(each[0].adjusted_p)]
    if shown:
        yield _slope(material, *max(shown, key=lambda each: abs(each[0].standardized or 0.0)))
    elif slopes:
        least = min(slope.adjusted_p for slope, _ in slopes if slope.adjusted_p is not None)
        fact = NarrativeFact("slopes:p", "smallest adjusted p of a slope", least, n=len(slopes))
        yield Statement(f"None of {len(slopes)} slopes differs clearly from zero ({format_p(least)}).", (fact,))
    dividing = [each for each in effects.equality if _is_clear(each.adjusted_p)][:1]
    for each in dividing:
        fact = NarrativeFact(
            f"equality:{each.dimension}", f"p of equal slopes of {each.dimension}", each.adjusted_p or 0.0
        )
        yield Statement(f"{each.dimension} moves the targets differently ({format_p(each.adjusted_p)}).", (fact,))


def _is_clear(p: float | None) -> bool:
    return p is not None and p < _LEVEL


def _slope(material: Material, slope: Slope, column: int) -> Statement:
    name, metric = material.names[column], material.matrix.metric
    by = f"{format_difference(slope.per_step)} points" if metric is Metric.DECISION else format_points(slope.per_step)
    facts = (
        NarrativeFact(f"slope:{column}:{slope.dimension}", f"{slope.dimension} of {name}, per step", slope.per_step),
        NarrativeFact(f"slope:{column}:{slope.dimension}:p", "its adjusted p", slope.adjusted_p or 0.0),
    )
    text = f"The strongest effect is of {slope.dimension} on {name}: {by} per step ({format_p(slope.adjusted_p)})."
    return Statement(text, facts)


def _interactions(material: Material) -> Iterator[Statement]:
    found = material.found.interactions
    tested = [each for each in found.largest if each.adjusted_p is not None] if found else []
    if found is None or not tested:
        return
    first = min(tested, key=lambda each: each.adjusted_p or 0.0)
    fact = NarrativeFact(
        "interaction:p", "smallest adjusted p of an interaction", first.adjusted_p or 0.0, n=found.tested
    )
    text = f"None of {found.tested:,} tested interactions is clear ({format_p(first.adjusted_p)})."
    if _is_clear(first.adjusted_p):
        names = f"{first.first} on {material.names[first.column]} depends on {first.second}"
        text = f"The effect of {names} ({format_p(first.adjusted_p)}, {found.tested:,} tested)."
    yield Statement(text, (fact,))


def _outliers(material: Material) -> Iterator[Statement]:
    found = material.found.outlier_targets
    if found is None:
        return
    compared = NarrativeFact("outliers:compared", "targets that are compared", len(found.targets))
    if not material.outliers:
        yield Statement(f"None of {len(found.targets)} targets answers unlike the others.", (compared,))
    for each in material.outliers[:_MAX_NAMED]:
        if each.agreement_gain is not None:
            name, gain = material.names[each.column], each.agreement_gain
            fact = NarrativeFact(f"outlier:{each.column}", f"rise of alpha without {name}", gain)
            yield Statement(
                f"{name} answers unlike the others: without it, alpha changes by {format_difference(gain)}.", (fact,)
            )


def _data_quality(material: Material) -> Iterator[Statement]:
    scenarios = NarrativeFact("scenarios", "scenarios of the run", len(material.found.scenarios))
    targets = NarrativeFact("targets", "targets of the run", len(material.names))
    text = f"Scenarios of the run: {len(material.found.scenarios):,}; targets: {len(material.names)}."
    yield Statement(text, (scenarios, targets))
    components = material.found.components
    if components is not None:
        share = NarrativeFact("imputed", "share of estimated values", components.imputed_share, n=components.scenarios)
        yield Statement(f"{format_percent(components.imputed_share)} of the compared values are estimated.", (share,))


RULES: Mapping[NarrativeTopic, Callable[[Material], Iterator[Statement]]] = {
    NarrativeTopic.DIFFERENCES: _differences,
    NarrativeTopic.AGREEMENT: _agreement,
    NarrativeTopic.DIMENSIONS: _dimensions,
    NarrativeTopic.INTERACTIONS: _interactions,
    NarrativeTopic.OUTLIERS: _outliers,
    NarrativeTopic.DATA_QUALITY: _data_quality,
}
