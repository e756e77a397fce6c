"""Defines narratives of deep analyses, whose sentences cite the figures that they rest on.

A finding whose citations do not hold is not shown: its text is replaced, and `dropped` names the reason.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.statistics import Interval

UNAVAILABLE = "information unavailable"
"""The text for what the figures do not say."""
MAX_WORDS, MAX_CITED = 60, 5
MAX_LIMITATIONS, MAX_STEPS = 5, 3
_CONSTANT = "95% interval"
"""The number in this phrase is no claim."""
_NUMBER = re.compile(
    r"(?P<below>< )?(?P<sign>[-+−])?(?P<digits>\d+(?:,\d{3})*(?:\.(?P<decimals>\d+))?)"
    r"(?P<percent> ?%| pp\b| percentage points?\b)?"
)
_TINY = 1e-9


class NarrativeTopic(StrEnum):
    DIFFERENCES = "differences"
    AGREEMENT = "agreement"
    DIMENSIONS = "dimensions"
    INTERACTIONS = "interactions"
    OUTLIERS = "outliers"
    DATA_QUALITY = "dataQuality"


class NarrativeFact(NamedTuple):
    id: str
    label: str
    value: float
    interval: Interval | None = None
    n: int | None = None

    @property
    def numbers(self) -> tuple[float, ...]:
        return (self.value, *(self.interval or ()), *(() if self.n is None else (self.n,)))


class NarrativeFinding(NamedTuple):
    topic: NarrativeTopic
    text: str
    facts: tuple[str, ...]


class DroppedFinding(NamedTuple):
    topic: NarrativeTopic
    reason: str


@dataclass(frozen=True)
class Narrative:
    headline: str
    findings: tuple[NarrativeFinding, ...]
    limitations: tuple[str, ...]
    next_steps: tuple[str, ...]
    facts: tuple[NarrativeFact, ...]
    dropped: tuple[DroppedFinding, ...]
    model: str | None = None
    """The model that was asked to write the narrative; None if only rules were used."""
    calls: int = 0
    cost_usd: float | None = None
    """None without calls, or if a price is unknown."""
    error: str | None = None


def check_finding(
    finding: NarrativeFinding, facts: Sequence[NarrativeFact], names: Sequence[str]
) -> NarrativeFinding | DroppedFinding:
    """Return the finding if its citations exist and support every number in it; otherwise return why it is dropped.

    A number must equal a cited figure, rounded to the digits that are written. Digits in `names`, those of targets and
    dimensions, are no numbers.
    """
    reason = _objection(finding, {fact.id: fact for fact in facts}, names)
    return finding if reason is None else DroppedFinding(finding.topic, reason)


def _objection(finding: NarrativeFinding, facts: dict[str, NarrativeFact], names: Sequence[str]) -> str | None:
    if finding.text == UNAVAILABLE:
        return None
    unknown = [each for each in finding.facts if each not in facts]
    if unknown:
        return f"cites {unknown[0]}, which is no figure"
    if not 1 <= len(finding.facts) <= MAX_CITED:
        return f"cites {len(finding.facts)} figures"
    number = unsupported_number(finding.text, [facts[each] for each in finding.facts], names)
    return None if number is None else f"says {number}, which it does not cite"


def unsupported_number(text: str, facts: Iterable[NarrativeFact], names: Sequence[str]) -> str | None:
    """Return the first number of the text that equals none of these figures, rounded to the digits that are written."""
    numbers = [number for fact in facts for number in fact.numbers]
    for match in _NUMBER.finditer(_without_names(text, names)):
        if not any(_agrees(match, number) for number in numbers):
            return match.group().strip()
    return None


def _without_names(text: str, names: Sequence[str]) -> str:
    """Replace names by an ellipsis, the longest first; a name such as "5" is not replaced within a number."""
    longest_first = sorted(filter(None, {*names, _CONSTANT}), key=len, reverse=True)
    any_name = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w.,])(?:{any_name})(?![\w%])", "…", text)


def _agrees(written: re.Match[str], number: float) -> bool:
    """Return whether the written number is the figure; without a sign, only magnitudes are compared ("falls by
    0.3")."""
    value = float(written["digits"].replace(",", ""))
    actual = 100 * number if written["percent"] else number
    if written["below"]:
        return abs(actual) < value
    signed = -value if written["sign"] in ("-", "−") else value
    half = 0.5 * 10 ** -len(written["decimals"] or "")
    magnitude = actual if written["sign"] else abs(actual)
    return bool(abs(magnitude - signed) <= half + _TINY)
