"""Verdicts of graders as labels are compared with them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.domain.labelling.labels import CODES, DECISION, RESULT, LabelVerdict


class JudgedProbe(NamedTuple):
    probe_index: int
    retry_round: int
    scenario_id: str
    verdict: str | None
    """`pass`, `fail` or a code; None if the graders could not decide."""
    content_expires_at: datetime | None = None
    is_erased: bool = False

    def is_readable(self, now: datetime) -> bool:
        """Return whether the conversation can still be read."""
        return not self.is_erased and (self.content_expires_at is None or now < self.content_expires_at)


def is_checked(scored: Mapping[str, Any], criterion: str) -> bool:
    """Return whether the criterion was checked. `scored` is the digest of a scoring, and the code of a decision."""
    if criterion == DECISION:
        return scored.get("code") is not None
    checks = scored.get("checks") or {}
    return bool(checks) or scored.get("success") is not None if criterion == RESULT else criterion in checks


def criteria_of(scored: Mapping[str, Any]) -> list[str]:
    """Return the criteria that were checked: the checks, the result and the decision."""
    named = [*(scored.get("checks") or ()), DECISION, RESULT]
    return [each for each in named if is_checked(scored, each)]


def verdict_on(scored: Mapping[str, Any], criterion: str) -> str | None:
    """Return the verdict on a criterion that was checked, or None if it could not be computed."""
    if criterion == DECISION:
        return scored["code"] if scored["code"] in CODES else None
    passed = scored.get("success") if criterion == RESULT else scored["checks"][criterion]
    return None if passed is None else LabelVerdict.of(passed)
