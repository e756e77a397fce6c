"""Continues repairs of providers and connectors that a request did not carry out completely."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError
from cupel_core.runs.repairs import continue_runs
from cupel_core.store import repairs
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.workspace.sweeping.in_turn import in_turn

logger = Logger(child=True)


def continue_repairs(now: datetime, has_time: Callable[[], bool]) -> int:
    """Let the remaining runs of every due repair go on while there is time; returns how many repairs were continued."""
    continued = 0
    for repair in in_turn("repairs", partial(repairs.list_due, now), attrgetter("sort_key"), has_time):
        try:
            continue_runs(repair, now, has_time)
            continued += 1
        except (AppError, *AWS_ERRORS):  # It must not keep others waiting; the next sweep tries again.
            logger.exception("a repair could not be continued", repair=repair.sort_key)
    return continued
