"""Verdicts of the graders of a run, or of a rescore, on one criterion. Reading them reads no text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cupel_core.base.clock import from_optional_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.labelling import judged_probes
from cupel_core.domain.labelling.judged_probes import JudgedProbe, is_checked, verdict_on
from cupel_core.store import outcomes, rescore_results
from cupel_core.store.outcome_items import StoredOutcome

MAX_PROBES = 20_000
"""Reading the verdicts of more probes takes longer than a request may."""


def list_of_run(
    ref: RunRef, criterion: str, indexes: Iterable[int], rescore_id: str | None = None
) -> Iterator[JudgedProbe]:
    """Yield the completed probes in which the criterion was checked. Corrections by users are left out of account."""
    for stored, scored in _list_scored(ref, indexes, rescore_id):
        if is_checked(scored, criterion):
            body = stored.body
            yield JudgedProbe(
                stored.index,
                body.get("retryRound", 1),
                body["scenarioId"],
                verdict_on(scored, criterion),
                from_optional_iso(body.get("contentExpiresAt")),
                stored.erased_at is not None,
            )


def criteria_of(ref: RunRef, indexes: Iterable[int], rescore_id: str | None = None) -> list[str]:
    """Return the criteria that were checked in these probes."""
    names = dict[str, None]()
    for _, scored in _list_scored(ref, indexes, rescore_id):
        names |= dict.fromkeys(judged_probes.criteria_of(scored))
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
