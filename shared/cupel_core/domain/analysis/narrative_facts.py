"""The figures that a model writes a narrative from: those that rules cite, then others."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.insight_texts import measure
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import NarrativeFact

MAX_FACTS = 80
MAX_BYTES = 12_000
_DIGITS = 4
"""Significant ones, as they are shown to the model."""


def narrative_facts(material: Material, of_rules: Iterable[NarrativeFact]) -> tuple[NarrativeFact, ...]:
    """At most MAX_FACTS, of which `facts_text` has at most MAX_BYTES."""
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
    """A line of JSON for each."""
    return "\n".join(map(_line, facts))


def read_facts(text: str) -> list[dict[str, Any]]:
    """Parse text that `facts_text` has written."""
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
