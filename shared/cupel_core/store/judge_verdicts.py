"""Verdicts of the graders of a run, or of a rescore, on one criterion. Reading them reads no text."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.clock import from_optional_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.labelling.labels import CODES, DECISION, RESULT, LabelVerdict
from cupel_core.store import outcomes, rescore_results
from cupel_core.store.outcome_items import StoredOutcome

MAX_PROBES = 20_000
"""Reading the verdicts of more probes takes longer than a request may."""


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


def list_of_run(
    ref: RunRef, criterion: str, indexes: Iterable[int], rescore_id: str | None = None
) -> Iterator[JudgedProbe]:
    """Yield the completed probes in which the criterion was checked. Corrections by users are left out of account."""
    for stored, scored in _list_scored(ref, indexes, rescore_id):
        if _is_checked(scored, criterion):
            body = stored.body
            yield JudgedProbe(
                stored.index,
                body.get("retryRound", 1),
                body["scenarioId"],
                _verdict(scored, criterion),
                from_optional_iso(body.get("contentExpiresAt")),
                stored.erased_at is not None,
            )


def criteria_of(ref: RunRef, indexes: Iterable[int], rescore_id: str | None = None) -> list[str]:
    """Return the criteria that were checked in these probes."""
    names = dict[str, None]()
    for _, scored in _list_scored(ref, indexes, rescore_id):
        names |= dict.fromkeys(scored.get("checks") or ())
        names |= {each: None for each in (DECISION, RESULT) if _is_checked(scored, each)}
    return list(names)


def _list_scored(
    ref: RunRef, indexes: Iterable[int], rescore_id: str | None
) -> Iterator[tuple[StoredOutcome, Mapping[str, Any]]]:
    wanted = sorted(indexes)
    if rescore_id is None:
        bodies = None
    else:
        span = range(wanted[0], wanted[-1] + 1) if wanted else range(0)
        bodies = dict(rescore_results.list_bodies(ref, rescore_id, span))
    for stored in outcomes.list_stored(ref, wanted):
        if not stored.completed or (bodies is not None and stored.index not in bodies):
            continue
        scored = dict((stored.body.get("scored") or {}) if bodies is None else bodies[stored.index])
        scored["code"] = (stored.summary or {}).get("decisionCode")
        yield stored, scored


def _is_checked(scored: Mapping[str, Any], criterion: str) -> bool:
    if criterion == DECISION:
        return scored.get("code") is not None
    checks = scored.get("checks") or {}
    return bool(checks) or scored.get("success") is not None if criterion == RESULT else criterion in checks


def _verdict(scored: Mapping[str, Any], criterion: str) -> str | None:
    """Return the verdict on a criterion that was checked, or None if it could not be computed."""
    if criterion == DECISION:
        return scored["code"] if scored["code"] in CODES else None
    passed = scored.get("success") if criterion == RESULT else scored["checks"][criterion]
    return None if passed is None else LabelVerdict.of(passed)
