"""The narrative of a deep analysis: rules choose the figures that are worth a sentence, and no model is asked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cupel_core.domain.analysis.agreement import Agreement, agreement
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode, Slope, TargetOutlyingness
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.insight_texts import format_interval, format_p, format_value, measure
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import (
    UNAVAILABLE,
    DroppedFinding,
    Narrative,
    NarrativeFact,
    NarrativeFinding,
    NarrativeTopic,
    check_finding,
)
from cupel_core.domain.analysis.pairs import PairAgreement

_LEVEL = 0.05
_MAX_LIMITATIONS, _MAX_STEPS, _MAX_NAMED = 5, 3, 3


class _Statement(NamedTuple):
    text: str
    facts: tuple[NarrativeFact, ...]


class _Material(NamedTuple):
    """All that sentences are made from."""

    found: DeepAnalysis
    matrix: CellMatrix
    names: tuple[str, ...]
    agreed: Agreement | None


def narrate(found: DeepAnalysis, matrix: CellMatrix, names: tuple[str, ...]) -> Narrative:
    """`names` are those of the columns, for people."""
    told = _Material(found, matrix, names, agreement(matrix.columns, matrix.metric, compares_pairs=False))
    rules = {
        NarrativeTopic.DIFFERENCES: _differences,
        NarrativeTopic.AGREEMENT: _agreement,
        NarrativeTopic.DIMENSIONS: _dimensions,
        NarrativeTopic.INTERACTIONS: _interactions,
        NarrativeTopic.OUTLIERS: _outliers,
        NarrativeTopic.DATA_QUALITY: _data_quality,
    }
    statements = {topic: list(rule(told)) for topic, rule in rules.items()}
    facts = tuple({fact.id: fact for said in statements.values() for each in said for fact in each.facts}.values())
    findings = [_finding(topic, said) for topic, said in statements.items()]
    checked = [check_finding(each, facts, (*names, *matrix.dimensions)) for each in findings]
    return Narrative(
        headline=_headline(told),
        findings=tuple(_shown(each) for each in checked),
        limitations=tuple(caution.text for caution in found.cautions)[:_MAX_LIMITATIONS],
        next_steps=tuple(_next_steps(told))[:_MAX_STEPS],
        facts=facts,
        dropped=tuple(each for each in checked if isinstance(each, DroppedFinding)),
    )


def _finding(topic: NarrativeTopic, said: Sequence[_Statement]) -> NarrativeFinding:
    text = " ".join(each.text for each in said) or UNAVAILABLE
    return NarrativeFinding(topic, text, tuple(dict.fromkeys(fact.id for each in said for fact in each.facts)))


def _shown(checked: NarrativeFinding | DroppedFinding) -> NarrativeFinding:
    return NarrativeFinding(checked.topic, UNAVAILABLE, ()) if isinstance(checked, DroppedFinding) else checked


def _differences(told: _Material) -> Iterator[_Statement]:
    matrix, metric = told.matrix, told.matrix.metric
    values = [group_estimate(Counter(cells)).value(metric) for cells in matrix.columns]
    given = [(value, column) for column, value in enumerate(values) if value is not None]
    if len(given) < 2:
        return
    (low, lowest), (high, highest) = min(given), max(given)
    facts = [
        NarrativeFact(f"value:{column}", f"{measure(metric)} of {told.names[column]}", value)
        for value, column in ((high, highest), (low, lowest))
    ]
    text = (
        f"{told.names[highest]} has the highest {measure(metric)} ({format_value(high, metric)}), "
        f"{told.names[lowest]} the lowest ({format_value(low, metric)})"
    )
    pair = _pair(matrix, lowest, highest)
    if pair is not None and pair.interval is not None and pair.difference is not None:
        label = f"{told.names[highest]} less {told.names[lowest]}, by scenario"
        facts.append(NarrativeFact("difference", label, pair.difference, pair.interval, pair.scenarios))
        unit = " points" if metric is Metric.DECISION else ""
        text += f"; scenario by scenario they differ by {format_value(pair.difference, metric)}{unit}"
        text += f" (95 % interval {format_interval(pair.interval, metric)})"
    yield _Statement(f"{text}.", tuple(facts))
    if told.found.variance is not None:
        share = NarrativeFact("variance:target", "share of the variance between targets", told.found.variance.target)
        yield _Statement(f"{share.value:.0%} of the variance of answers is between targets.", (share,))


def _pair(matrix: CellMatrix, first: int, second: int) -> PairAgreement | None:
    found = agreement([matrix.columns[first], matrix.columns[second]], matrix.metric)
    return found.pairs[0] if found is not None else None


def _agreement(told: _Material) -> Iterator[_Statement]:
    agreed = told.agreed
    if agreed is None or agreed.alpha is None or agreed.level is None:
        return
    fact = NarrativeFact(
        "alpha", "Krippendorff's alpha of all targets", agreed.alpha, agreed.interval, agreed.scenarios
    )
    interval = f", 95 % interval {agreed.interval.low:.2f} to {agreed.interval.high:.2f}" if agreed.interval else ""
    text = f"Agreement between the targets is {agreed.level} over {agreed.scenarios:,} scenarios"
    yield _Statement(f"{text} (alpha {agreed.alpha:.2f}{interval}).", (fact,))


def _dimensions(told: _Material) -> Iterator[_Statement]:
    effects = told.found.effects
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
        yield _slope(told, *max(shown, key=lambda each: abs(each[0].standardized or 0.0)))
    elif slopes:
        least = min(slope.adjusted_p for slope, _ in slopes if slope.adjusted_p is not None)
        fact = NarrativeFact("slopes:p", "smallest adjusted p of a slope", least, n=len(slopes))
        yield _Statement(f"None of {len(slopes)} slopes differs clearly from zero ({format_p(least)}).", (fact,))
    dividing = [each for each in effects.equality if _is_clear(each.adjusted_p)][:1]
    for each in dividing:
        fact = NarrativeFact(
            f"equality:{each.dimension}", f"p of equal slopes of {each.dimension}", each.adjusted_p or 0.0
        )
        yield _Statement(f"{each.dimension} moves the targets differently ({format_p(each.adjusted_p)}).", (fact,))


def _is_clear(p: float | None) -> bool:
    return p is not None and p < _LEVEL


def _slope(told: _Material, slope: Slope, column: int) -> _Statement:
    name, metric = told.names[column], told.matrix.metric
    by = f"{slope.per_step:+.2f} points" if metric is Metric.DECISION else f"{100 * slope.per_step:+.0f} %"
    facts = (
        NarrativeFact(f"slope:{column}:{slope.dimension}", f"{slope.dimension} of {name}, per step", slope.per_step),
        NarrativeFact(f"slope:{column}:{slope.dimension}:p", "its adjusted p", slope.adjusted_p or 0.0),
    )
    text = f"The strongest effect is of {slope.dimension} on {name}: {by} per step ({format_p(slope.adjusted_p)})."
    return _Statement(text, facts)


def _interactions(told: _Material) -> Iterator[_Statement]:
    found = told.found.interactions
    tested = [each for each in found.largest if each.adjusted_p is not None] if found else []
    if found is None or not tested:
        return
    first = min(tested, key=lambda each: each.adjusted_p or 0.0)
    fact = NarrativeFact(
        "interaction:p", "smallest adjusted p of an interaction", first.adjusted_p or 0.0, n=found.tested
    )
    text = f"None of {found.tested:,} tested interactions is clear ({format_p(first.adjusted_p)})."
    if _is_clear(first.adjusted_p):
        names = f"{first.first} on {told.names[first.column]} depends on {first.second}"
        text = f"The effect of {names} ({format_p(first.adjusted_p)}, {found.tested:,} tested)."
    yield _Statement(text, (fact,))


def _flagged(told: _Material) -> list[TargetOutlyingness]:
    found = told.found.outlier_targets
    return [each for each in found.targets if each.is_outlier] if found else []


def _outliers(told: _Material) -> Iterator[_Statement]:
    found = told.found.outlier_targets
    if found is None:
        return
    compared = NarrativeFact("outliers:compared", "targets that are compared", len(found.targets))
    if not _flagged(told):
        yield _Statement(f"None of {len(found.targets)} targets answers unlike the others.", (compared,))
    for each in _flagged(told)[:_MAX_NAMED]:
        if each.agreement_gain is not None:
            name, gain = told.names[each.column], each.agreement_gain
            fact = NarrativeFact(f"outlier:{each.column}", f"rise of alpha without {name}", gain)
            yield _Statement(f"{name} answers unlike the others: without it, alpha changes by {gain:+.2f}.", (fact,))


def _data_quality(told: _Material) -> Iterator[_Statement]:
    scenarios = NarrativeFact("scenarios", "scenarios of the run", len(told.found.scenarios))
    targets = NarrativeFact("targets", "targets of the run", len(told.names))
    text = f"Scenarios of the run: {len(told.found.scenarios):,}; targets: {len(told.names)}."
    yield _Statement(text, (scenarios, targets))
    components = told.found.components
    if components is not None:
        share = NarrativeFact("imputed", "share of estimated values", components.imputed_share, n=components.scenarios)
        yield _Statement(f"{components.imputed_share:.0%} of the compared values are estimated.", (share,))


def _headline(told: _Material) -> str:
    """The first that applies."""
    outliers = _flagged(told)
    if outliers:
        return f"{told.names[outliers[0].column]} answers unlike the other targets."
    if told.agreed is not None and told.agreed.level is not None:
        return f"No target is an outlier; agreement between them is {told.agreed.level}."
    return "Too few targets to compare." if len(told.names) < 2 else "The targets cannot be compared."


def _next_steps(told: _Material) -> Iterator[str]:
    codes = {caution.code for caution in told.found.cautions}
    for each in _flagged(told)[:1]:
        yield f"Read what {told.names[each.column]} answers to the most unusual scenarios."
    if DeepCautionCode.FEW_SCENARIOS in codes:
        yield "Add scenarios: slopes rest on few of them."
    if DeepCautionCode.COLLINEAR in codes:
        yield "Vary the dimensions independently of each other: their effects cannot be told apart."
    if told.found.variance is not None and told.found.variance.repeat is None:
        yield "Repeat the probes, to tell chance from targets that react differently to scenarios."
