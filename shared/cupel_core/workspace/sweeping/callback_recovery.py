"""Recovery of webhook calls after a crash, for runs whose message was never sent or is lost."""

from collections.abc import Callable
from datetime import datetime, timedelta
from math import ceil

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError
from cupel_core.store import callbacks
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST

LOST_AFTER = timedelta(minutes=2)
MAX_DELAY = timedelta(minutes=15)
"""The longest delay of a message. The regular sweeps find callbacks that are due later."""
_RESERVE_SECONDS = 5.0

logger = Logger(child=True)


def resend_lost_callbacks(
    now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST
) -> int:
    """Send the messages of callbacks that have long been due, while time allows. Return how many were sent. Messages
    from before `lost_before` are known to be lost. Then callbacks that are due soon get messages, too: their row waits
    for a repeated call, or was claimed by a consumer that is dead."""
    sent, is_lost = 0, lost_before > NOTHING_LOST
    for due in callbacks.list_due_before(now + MAX_DELAY if is_lost else now - LOST_AFTER):
        if seconds_left() < _RESERVE_SECONDS:
            break
        try:
            callbacks.send(due.message, max(0, ceil((due.due_at - now).total_seconds())))
            sent += 1
        except (AppError, *AWS_ERRORS):  # It must not delay others.
            logger.exception("a callback could not be sent again", run_id=due.message.run_id)
    return sent
