"""Counts checks of an imported file that are not in the scenario, because verdicts without them must say so."""

from collections import Counter
from collections.abc import Iterable, Mapping

type LeftOutChecks = Mapping[str, int]
"""The number of checks by type, such as `{"javascript": 2, "is-sql": 1}`; empty if none is missing."""

NOTHING_LEFT = "every check that its author wrote was left out at the import"
_MAX_NAMED = 5


def add_checks(checks: Iterable[LeftOutChecks]) -> dict[str, int]:
    """Return the sum by type, in order of first occurrence."""
    total: Counter[str] = Counter()
    for each in checks:
        total.update(each)
    return dict(total)


def describe_checks(checks: LeftOutChecks) -> str:
    """Return the types with their numbers, the most frequent first: `javascript 400, is-sql 20 and 3 others`."""
    ordered = sorted(checks.items(), key=lambda each: (-each[1], each[0]))
    named = ", ".join(f"{name} {count:,}" for name, count in ordered[:_MAX_NAMED])
    others = sum(count for _, count in ordered[_MAX_NAMED:])
    return f"{named} and {others:,} others" if others else named


def left_out_message(conversations: int, of: int, checks: LeftOutChecks) -> str:
    """Return the text for every interface: `608 of 942 conversations lack checks that their author wrote (javascript
    400)`."""
    noun = "conversation lacks checks that its" if of == 1 else "conversations lack checks that their"
    return f"{conversations:,} of {of:,} {noun} author wrote ({describe_checks(checks)})"
