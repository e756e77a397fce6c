"""What a deep analysis says in sentences, each of which cites the figures that it rests on.

A finding whose citations do not hold is not shown: its text is replaced, and `dropped` names the reason.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.statistics import Interval

UNAVAILABLE = "information unavailable"
"""What the figures do not say."""
MAX_WORDS, MAX_CITED = 60, 5
MAX_LIMITATIONS, MAX_STEPS = 5, 3
_CONSTANT = "95% interval"
"""A number that is no claim."""
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
    """A figure that sentences may cite."""

    id: str
    label: str
    value: float
    interval: Interval | None = None
    n: int | None = None
    """What it is computed from: scenarios or answers."""

    @property
    def numbers(self) -> tuple[float, ...]:
        return (self.value, *(self.interval or ()), *(() if self.n is None else (self.n,)))


class NarrativeFinding(NamedTuple):
    topic: NarrativeTopic
    text: str
    facts: tuple[str, ...]
    """The ids of those that it rests on."""


class DroppedFinding(NamedTuple):
    topic: NarrativeTopic
    reason: str


@dataclass(frozen=True)
class Narrative:
    headline: str
    findings: tuple[NarrativeFinding, ...]
    """One of each topic."""
    limitations: tuple[str, ...]
    next_steps: tuple[str, ...]
    facts: tuple[NarrativeFact, ...]
    """All that are cited."""
    dropped: tuple[DroppedFinding, ...]
    model: str | None = None
    """That was asked to write it; None for one by rules alone."""
    calls: int = 0
    """Of the model."""
    cost_usd: float | None = None
    """None without calls, or if a price is unknown."""
    error: str | None = None
    """Why the model's sentences are missing."""


def check_finding(
    finding: NarrativeFinding, facts: Sequence[NarrativeFact], names: Sequence[str]
) -> NarrativeFinding | DroppedFinding:
    """The finding if everything that it cites exists, and each number in it is a cited one as precisely as it is
    written. Digits in `names`, those of targets and dimensions, are no numbers."""
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
    """The first number of the text that is none of these figures, as precisely as it is written."""
    numbers = [number for fact in facts for number in fact.numbers]
    for match in _NUMBER.finditer(_without_names(text, names)):
        if not any(_agrees(match, number) for number in numbers):
            return match.group().strip()
    return None


def _without_names(text: str, names: Sequence[str]) -> str:
    """Of names that contain each other, the longest; a name such as "5" is no part of a number."""
    longest_first = sorted(filter(None, {*names, _CONSTANT}), key=len, reverse=True)
    any_name = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w.,])(?:{any_name})(?![\w%])", "…", text)


def _agrees(written: re.Match[str], number: float) -> bool:
    """Without a sign, a number is a magnitude: "falls by 0.3"."""
    value = float(written["digits"].replace(",", ""))
    actual = 100 * number if written["percent"] else number
    if written["below"]:
        return abs(actual) < value
    signed = -value if written["sign"] in ("-", "−") else value
    half = 0.5 * 10 ** -len(written["decimals"] or "")
    magnitude = actual if written["sign"] else abs(actual)
    return bool(abs(magnitude - signed) <= half + _TINY)
