"""Recovery of rescores and repairs that were interrupted, by a crash or because a request had no time left."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, NotFound
from cupel_core.runs.repairs import continue_runs
from cupel_core.runs.rescoring import phases
from cupel_core.store import executions, repairs, rescores, runs
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.executions import RestartResult
from cupel_core.store.rescores import OpenRescore
from cupel_core.workspace.sweeping.in_turn import in_turn
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST

GRACE_PERIOD = timedelta(minutes=1)
"""A request that has created a rescore starts its execution within this time."""
_RESERVE_SECONDS = 5.0
logger = Logger(child=True)


def recover_rescores(now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST) -> int:
    """Check every open rescore while time allows. Return how many were restarted or given up."""
    recovered = 0
    for open_rescore in in_turn(
        "rescores", rescores.list_open_rescores, attrgetter("sort_key"), lambda: seconds_left() >= _RESERVE_SECONDS
    ):
        if lost_before <= open_rescore.created_at and now - open_rescore.created_at < GRACE_PERIOD:
            continue
        try:
            recovered += _recover(open_rescore, now)
        except (AppError, *AWS_ERRORS):  # It must not delay others.
            logger.exception("a rescore could not be recovered", rescore_id=open_rescore.rescore_id)
    return recovered


def _recover(open_rescore: OpenRescore, now: datetime) -> bool:
    try:
        runs.get(open_rescore.ref)
        rescores.get(open_rescore.ref, open_rescore.rescore_id)
    except NotFound:
        rescores.remove_open_rescore(open_rescore)
        return False
    result = executions.ensure_rescore_running(open_rescore.ref, open_rescore.rescore_id)
    if result is RestartResult.GIVEN_UP:
        why = f"{executions.MAX_ATTEMPTS} executions of the scoring workflow ended early"
        phases.fail(open_rescore.ref, open_rescore.rescore_id, "scoring", why, now)
    return result is not RestartResult.ALREADY_RUNNING


def continue_repairs(now: datetime, has_time: Callable[[], bool]) -> int:
    """Resume the remaining runs of every due repair while there is time. Return how many repairs were continued."""
    continued = 0
    for repair in in_turn("repairs", partial(repairs.list_due, now), attrgetter("sort_key"), has_time):
        try:
            continue_runs(repair, now, has_time)
            continued += 1
        except (AppError, *AWS_ERRORS):  # It must not delay others; the next sweep tries again.
            logger.exception("a repair could not be continued", repair=repair.sort_key)
    return continued
