"""Recovers rescores after a crash: those whose execution was never started, or has died."""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, NotFound
from cupel_core.runs.rescoring import phases
from cupel_core.store import executions, rescores, runs
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.executions import RestartResult
from cupel_core.store.rescores import OpenRescore
from cupel_core.workspace.sweeping.in_turn import in_turn
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST

GRACE_PERIOD = timedelta(minutes=1)
"""The request that created a rescore is about to start its execution."""
_RESERVE_SECONDS = 5.0

logger = Logger(child=True)


def recover_rescores(now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST) -> int:
    """Check every open rescore, as far as time allows; returns how many were restarted or given up."""
    recovered = 0
    for open_rescore in in_turn(
        "rescores", rescores.list_open_rescores, attrgetter("sort_key"), lambda: seconds_left() >= _RESERVE_SECONDS
    ):
        if lost_before <= open_rescore.created_at and now - open_rescore.created_at < GRACE_PERIOD:
            continue
        try:
            recovered += _recover(open_rescore, now)
        except (AppError, *AWS_ERRORS):  # It must not keep others waiting.
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
