"""Recovers calls of webhooks after a crash: those of runs whose message was never sent, or is lost."""

from collections.abc import Callable
from datetime import datetime, timedelta

from cupel_core.store import callbacks

LOST_AFTER = timedelta(minutes=2)
_RESERVE_SECONDS = 5.0


def resend_lost_callbacks(now: datetime, seconds_left: Callable[[], float]) -> int:
    """Send the messages of callbacks that have long been due, as far as time allows; returns how many."""
    sent = 0
    for message in callbacks.list_due_before(now - LOST_AFTER):
        if seconds_left() < _RESERVE_SECONDS:
            break
        callbacks.send(message)
        sent += 1
    return sent
