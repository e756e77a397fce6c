"""Sends the message of a generation again whose message was lost, or whose consumer died too often."""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.domain.definitions.generations import UNFINISHED
from cupel_core.errors import AppError, NotFound
from cupel_core.settings import settings
from cupel_core.store import generations, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.generations import OpenGeneration
from cupel_core.sweeping.in_turn import in_turn

RESEND_AFTER = timedelta(minutes=20)
"""Without a stored text for longer than the longest wait between two messages, 15 minutes."""
_RESERVE_SECONDS = 3.0

logger = Logger(child=True)


def recover_generations(now: datetime, seconds_left: Callable[[], float]) -> int:
    """Check every open generation, as far as time allows; returns how many messages were sent again."""
    resent = 0
    for open_generation in in_turn(
        "generations", generations.list_open, attrgetter("sort_key"), lambda: seconds_left() >= _RESERVE_SECONDS
    ):
        try:
            resent += _recover(open_generation, now)
        except (AppError, *AWS_ERRORS):  # It must not keep others waiting.
            logger.exception("a generation could not be recovered", request=open_generation.request.model_dump())
    return resent


def _recover(open_generation: OpenGeneration, now: datetime) -> bool:
    request = open_generation.request
    try:
        generation = generations.get(request.workspace, request.definition_id, request.generation_id)
    except NotFound:
        generations.remove_open(open_generation)
        return False
    if generation.status not in UNFINISHED:
        generations.remove_open(open_generation)
        return False
    if now - max(generation.updated_at, open_generation.touched_at) < RESEND_AFTER:
        return False
    queues.send(settings().generate_queue_url, [request])
    generations.touch_open(open_generation, now)
    return True
