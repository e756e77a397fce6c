"""What is shown of a narrative that a model wrote: what its figures support; rules write the rest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cupel_core.domain.analysis.narratives import (
    MAX_LIMITATIONS,
    MAX_STEPS,
    UNAVAILABLE,
    DroppedFinding,
    Narrative,
    NarrativeFact,
    NarrativeFinding,
    check_finding,
    unsupported_number,
)


class WrittenNarrative(NamedTuple):
    """As the model wrote it."""

    headline: str
    findings: tuple[NarrativeFinding, ...]
    limitations: tuple[str, ...]
    next_steps: tuple[str, ...]


def checked_narrative(
    written: WrittenNarrative, by_rules: Narrative, facts: Sequence[NarrativeFact], names: Sequence[str]
) -> Narrative:
    """`facts` are those that the model was given; digits in `names` are no figures.

    A finding that cites what there is not, or a number that it does not cite, is replaced by that of the rules. So are
    a headline and steps with numbers that are no figures. Limitations of the rules stay first.
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
