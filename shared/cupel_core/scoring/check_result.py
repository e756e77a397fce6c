"""What one check says, before it is negated and weighed."""

from typing import NamedTuple

from cupel_core.domain.turns.conversation import Spend

type Ledger = list[Spend]
"""What the models were asked for that a check needs, also when it fails."""

_SHOWN = 200


class Outcome(NamedTuple):
    """`reason` tells what was found, which holds for `not-…` as well. `score` from 0 to 1."""

    passed: bool
    score: float
    reason: str


class Uncomputable(Exception):
    """Nothing can be said: something is missing, or the value makes no sense for this conversation."""


def found(passed: bool, reason: str) -> Outcome:
    """Where there is nothing between 0 and 1."""
    return Outcome(passed, float(passed), reason)


def measured(name: str, score: float, threshold: float) -> Outcome:
    score = min(1.0, max(0.0, score))
    # Rounding must not keep a score from the threshold that it is.
    passed = score >= threshold - 1e-12
    return Outcome(passed, score, f"{name} {score:.4g} is {'at least' if passed else 'below'} {threshold:g}")


def shown(text: object) -> str:
    """A text in quotes, its beginning when it is long."""
    written = str(text)
    return f'"{written}"' if len(written) <= _SHOWN else f'"{written[:_SHOWN]}…"'
