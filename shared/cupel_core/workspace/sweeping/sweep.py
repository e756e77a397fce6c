"""The sweep: once a minute, it finds what a crash or a malformed message has left behind.

Each part has its own share of the time, and each item its own errors: no run or message keeps the others waiting.

If time runs out, the next sweep continues after the last item. Each repair is a metric, and a `run.recovered` event of
its run. The parts are called in `functions/sweep/app.py`, which erases first, so that repairs never delay an erasure.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.store import outbox, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.dead_letters import DeadLetterCounts, record_dead_letters
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST
from cupel_core.workspace.sweeping.run_recovery import RecoveryAction, recover_runs

logger = Logger(child=True)

STALE_DISPATCH_AFTER = timedelta(minutes=2)
"""A dispatch that has made no progress for so long has lost its message or its consumer."""
_RECOVERY_SECONDS = 17.0
"""Reserved for the recovery of runs, rescores and generations, which follows."""


@dataclass(frozen=True)
class SweepResult:
    """Counts of one sweep."""

    dispatched: int
    dead_letters: DeadLetterCounts
    recovered: Counter[RecoveryAction]


def sweep(now: datetime, seconds_left: Callable[[], float]) -> SweepResult:
    """Resend stale dispatches, record the probes of dead letters as errored, and recover runs that stand still."""
    dispatched = resend_stale_dispatches(now)
    dead_letters = record_dead_letters(now, lambda: seconds_left() > _RECOVERY_SECONDS)
    return SweepResult(dispatched, dead_letters, recover_runs(now, seconds_left))


def resend_stale_dispatches(now: datetime, lost_before: datetime = NOTHING_LOST) -> int:
    """Resend requests without progress for long, or since before their messages were lost; returns how many."""
    try:
        requests = list(outbox.list_untouched_since(max(now - STALE_DISPATCH_AFTER, lost_before)))
        queues.send(settings().dispatch_queue_url, requests)
    except (*AWS_ERRORS, RetryableError):
        logger.exception("stale dispatches could not be resent")
        return 0
    return len(requests)
