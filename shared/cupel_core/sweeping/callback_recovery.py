"""Recovers calls of webhooks after a crash: those of runs whose message was never sent, or is lost."""

from collections.abc import Callable
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from cupel_core.errors import AppError
from cupel_core.store import callbacks
from cupel_core.store.clients import AWS_ERRORS

LOST_AFTER = timedelta(minutes=2)
_RESERVE_SECONDS = 5.0

logger = Logger(child=True)


def resend_lost_callbacks(now: datetime, seconds_left: Callable[[], float]) -> int:
    """Send the messages of callbacks that have long been due, as far as time allows; returns how many."""
    sent = 0
    for message in callbacks.list_due_before(now - LOST_AFTER):
        if seconds_left() < _RESERVE_SECONDS:
            break
        try:
            callbacks.send(message)
            sent += 1
        except (AppError, *AWS_ERRORS):  # It must not keep others waiting.
            logger.exception("a callback could not be sent again", run_id=message.run_id)
    return sent
