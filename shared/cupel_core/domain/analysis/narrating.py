"""The narrative of a deep analysis: rules choose the figures that are worth a sentence, and no model is asked."""

from collections.abc import Iterator, Sequence

from cupel_core.domain.analysis.agreement import agreement
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.narrative_statements import RULES, Material, Statement
from cupel_core.domain.analysis.narratives import (
    MAX_LIMITATIONS,
    MAX_STEPS,
    UNAVAILABLE,
    DroppedFinding,
    Narrative,
    NarrativeFinding,
    NarrativeTopic,
    check_finding,
)


def material_of(found: DeepAnalysis, matrix: CellMatrix, names: tuple[str, ...]) -> Material:
    """`names` are those of the columns, for people."""
    return Material(found, matrix, names, agreement(matrix.columns, matrix.metric, compares_pairs=False))


def narrate(material: Material) -> Narrative:
    """By rules."""
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
    """The first that applies."""
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
        yield "Repeat the probes, to tell chance from targets that react differently to scenarios."
