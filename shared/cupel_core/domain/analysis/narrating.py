"""Makes the narrative of a deep analysis: by rules, or by a model from figures that rules choose and check."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cupel_core.domain.analysis.agreement import agreement
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.insight_texts import measure
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.narrative_statements import RULES, Material, Statement
from cupel_core.domain.analysis.narratives import (
    MAX_LIMITATIONS,
    MAX_STEPS,
    UNAVAILABLE,
    DroppedFinding,
    Narrative,
    NarrativeFact,
    NarrativeFinding,
    NarrativeTopic,
    check_finding,
    unsupported_number,
)

MAX_FACTS = 80
MAX_BYTES = 12_000
_DIGITS = 4
"""Figures are shown to the model with this many significant digits."""


def material_of(found: DeepAnalysis, matrix: CellMatrix, names: tuple[str, ...]) -> Material:
    return Material(found, matrix, names, agreement(matrix.columns, matrix.metric, compares_pairs=False))


def narrate(material: Material) -> Narrative:
    statements = {topic: list(rule(material)) for topic, rule in RULES.items()}
    facts = tuple({fact.id: fact for said in statements.values() for each in said for fact in each.facts}.values())
    findings = [_finding(topic, said) for topic, said in statements.items()]
    checked = [check_finding(each, facts, material.all_names) for each in findings]
    return Narrative(
        headline=_headline(material),
        findings=tuple(_shown(each) for each in checked),
        limitations=tuple(caution.text for caution in material.found.cautions)[:MAX_LIMITATIONS],
        next_steps=tuple(_next_steps(material))[:MAX_STEPS],
        facts=facts,
        dropped=tuple(each for each in checked if isinstance(each, DroppedFinding)),
    )


def _finding(topic: NarrativeTopic, said: Sequence[Statement]) -> NarrativeFinding:
    text = " ".join(each.text for each in said) or UNAVAILABLE
    return NarrativeFinding(topic, text, tuple(dict.fromkeys(fact.id for each in said for fact in each.facts)))


def _shown(checked: NarrativeFinding | DroppedFinding) -> NarrativeFinding:
    return NarrativeFinding(checked.topic, UNAVAILABLE, ()) if isinstance(checked, DroppedFinding) else checked


def _headline(material: Material) -> str:
    outliers = material.outliers
    if outliers:
        return f"{material.names[outliers[0].column]} answers unlike the other targets."
    if material.agreed is not None and material.agreed.level is not None:
        return f"No target is an outlier; agreement between them is {material.agreed.level}."
    return "Too few targets to compare." if len(material.names) < 2 else "The targets cannot be compared."


def _next_steps(material: Material) -> Iterator[str]:
    codes = {caution.code for caution in material.found.cautions}
    for each in material.outliers[:1]:
        yield f"Read what {material.names[each.column]} answers to the most unusual scenarios."
    if DeepCautionCode.FEW_SCENARIOS in codes:
        yield "Add scenarios: slopes rest on few of them."
    if DeepCautionCode.COLLINEAR in codes:
        yield "Vary the dimensions independently of each other: their effects cannot be told apart."
    if material.found.variance is not None and material.found.variance.repeat is None:
        yield "Repeat the conversations, to tell chance from targets that react differently to scenarios."


class WrittenNarrative(NamedTuple):
    headline: str
    findings: tuple[NarrativeFinding, ...]
    limitations: tuple[str, ...]
    next_steps: tuple[str, ...]


def checked_narrative(
    written: WrittenNarrative, by_rules: Narrative, facts: Sequence[NarrativeFact], names: Sequence[str]
) -> Narrative:
    """Return the model's narrative with everything replaced that its facts do not support.

    `facts` are those that the model was given; digits in `names` are no figures. A finding that cites an unknown fact,
    or has a number that it does not cite, is replaced by that of the rules, and so are a headline and steps with
    unsupported numbers. The limitations of the rules stay first.
    """
    known = {fact.id: fact for fact in (*by_rules.facts, *facts)}
    of_model = {finding.topic: check_finding(finding, facts, names) for finding in written.findings}
    findings, dropped = list[NarrativeFinding](), list(by_rules.dropped)
    for fallback in by_rules.findings:
        checked = of_model.get(fallback.topic, fallback)
        if isinstance(checked, DroppedFinding):
            dropped.append(checked)
            checked = fallback
        findings.append(fallback if checked.text == UNAVAILABLE else checked)

    def supported(texts: Sequence[str]) -> list[str]:
        return [text for text in texts if unsupported_number(text, facts, names) is None]

    cited = dict.fromkeys(fact_id for finding in findings for fact_id in finding.facts)
    return replace(
        by_rules,
        headline=next(iter(supported([written.headline])), by_rules.headline),
        findings=tuple(findings),
        limitations=tuple(dict.fromkeys((*by_rules.limitations, *supported(written.limitations))))[:MAX_LIMITATIONS],
        next_steps=tuple(supported(written.next_steps) or by_rules.next_steps)[:MAX_STEPS],
        facts=tuple(known[fact_id] for fact_id in cited),
        dropped=tuple(dropped),
    )


def narrative_facts(material: Material, of_rules: Iterable[NarrativeFact]) -> tuple[NarrativeFact, ...]:
    """Return at most MAX_FACTS facts, for which `facts_text` returns at most MAX_BYTES."""
    chosen, size = dict[str, NarrativeFact](), 0
    for fact in (*of_rules, *_further(material)):
        length = len(_line(fact).encode()) + 1
        if fact.id in chosen:
            continue
        if len(chosen) == MAX_FACTS or size + length > MAX_BYTES:
            break
        chosen[fact.id], size = fact, size + length
    return tuple(chosen.values())


def facts_text(facts: Iterable[NarrativeFact]) -> str:
    return "\n".join(map(_line, facts))


def read_facts(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def _line(fact: NarrativeFact) -> str:
    low_high = None if fact.interval is None else [_rounded(each) for each in fact.interval]
    fields = {"id": fact.id, "label": fact.label, "value": _rounded(fact.value), "interval": low_high, "n": fact.n}
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _further(material: Material) -> Iterator[NarrativeFact]:
    yield from _values(material)
    yield from _variance(material)
    yield from _components(material)
    yield from _slopes(material)
    yield from _interactions(material)


def _values(material: Material) -> Iterator[NarrativeFact]:
    metric = material.matrix.metric
    for column, cells in enumerate(material.matrix.columns):
        value = group_estimate(Counter(cells)).value(metric)
        if value is not None:
            yield NarrativeFact(f"value:{column}", f"{measure(metric)} of {material.names[column]}", value)


def _variance(material: Material) -> Iterator[NarrativeFact]:
    found = material.found.variance
    if found is not None:
        yield NarrativeFact("variance:scenario", "share of the variance between scenarios", found.scenario)
        label = "share of the variance from targets that react differently to the same scenarios"
        yield NarrativeFact("variance:both", label, found.target_by_scenario)


def _components(material: Material) -> Iterator[NarrativeFact]:
    found = material.found.components
    for number, each in enumerate(found.components[: found.above_chance] if found else (), start=1):
        label = f"share of the differences between targets that component {number} explains"
        yield NarrativeFact(f"component:{number}", label, each.explained_share)


def _slopes(material: Material) -> Iterator[NarrativeFact]:
    effects = material.found.effects
    for regression in effects.regressions if effects else ():
        name = material.names[regression.column]
        for slope in regression.slopes:
            fact_id = f"slope:{regression.column}:{slope.dimension}"
            yield NarrativeFact(fact_id, f"{slope.dimension} of {name}, per step", slope.per_step)
            if slope.adjusted_p is not None:
                label = f"adjusted p of {slope.dimension} of {name}"
                yield NarrativeFact(f"{fact_id}:p", label, slope.adjusted_p)


def _interactions(material: Material) -> Iterator[NarrativeFact]:
    found = material.found.interactions
    for each in found.largest if found else ():
        if each.adjusted_p is not None:
            label = f"adjusted p of {each.first} with {each.second} for {material.names[each.column]}"
            yield NarrativeFact(f"interaction:{each.column}:{each.first}:{each.second}:p", label, each.adjusted_p)
