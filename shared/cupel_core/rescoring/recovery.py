"""Scorings that a crash has left standing: written and never begun, or begun by an execution that died."""

from collections.abc import Callable
from datetime import datetime, timedelta

from cupel_core.errors import NotFound
from cupel_core.rescoring import phases
from cupel_core.store import executions, rescores, runs
from cupel_core.store.executions import Revival
from cupel_core.store.rescores import Open

YOUNG = timedelta(minutes=1)
"""Whoever wrote it is about to have it carried out."""
_RESERVE_SECONDS = 5.0


def revive(now: datetime, seconds_left: Callable[[], float]) -> int:
    """One look at every scoring that is not over, as far as time allows; how many were set going again or given up."""
    revived = 0
    for standing in rescores.every_open():
        if seconds_left() < _RESERVE_SECONDS:
            break
        if now - standing.created_at >= YOUNG:
            revived += _revive(standing, now)
    return revived


def _revive(standing: Open, now: datetime) -> bool:
    try:
        runs.get(standing.ref)
        rescores.get(standing.ref, standing.scoring_id)
    except NotFound:
        rescores.forget(standing)
        return False
    revival = executions.revive_scoring(standing.ref, standing.scoring_id)
    if revival is Revival.GIVEN_UP:
        why = f"{executions.MOST_ATTEMPTS} executions of the scoring workflow ended early"
        phases.fail(standing.ref, standing.scoring_id, "scoring", why, now)
    return revival is not Revival.ALIVE
