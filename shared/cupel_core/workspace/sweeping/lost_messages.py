"""Recovery of queued work whose message was lost, or whose worker died."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, NotFound
from cupel_core.base.messages import GenerationRequest, JobRequest, TurnOrder
from cupel_core.store import open_work, queues
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.open_work import OpenWork
from cupel_core.workspace.sweeping.in_turn import in_turn

NOTHING_LOST = datetime.min.replace(tzinfo=UTC)
"""A sweep with this moment treats no message as lost, because none was sent before it."""
_RESERVE_SECONDS = 3.0

logger = Logger(child=True)


class QueuedWork[R: (GenerationRequest, JobRequest, TurnOrder)](NamedTuple):
    name: str
    list_open: Callable[[str | None], Iterator[OpenWork[R]]]
    idle_since: Callable[[R], datetime | None]
    """Returns since when no worker has processed it, or None if it is over. It raises NotFound if it was deleted."""
    queue_url: Callable[[], str]
    resend_after: timedelta
    """The message is sent again after this long without a worker."""
    end_lease: Callable[[R, datetime], None]
    """Ends the lease of a worker that has taken it before that moment, because the worker is known to be dead."""


def resend_lost[R: (GenerationRequest, JobRequest, TurnOrder)](
    kind: QueuedWork[R], now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST
) -> int:
    """Check all open work of this kind while time allows. Return how many messages were sent again. Messages from
    before `lost_before` are known to be lost, and their workers to be dead."""
    resent = 0
    for work in in_turn(kind.name, kind.list_open, attrgetter("sort_key"), lambda: seconds_left() >= _RESERVE_SECONDS):
        try:
            resent += _resend(kind, work, now, lost_before)
        except (AppError, *AWS_ERRORS):  # It must not delay others.
            logger.exception("a message could not be sent again", kind=kind.name, request=work.request.model_dump())
    return resent


def _resend[R: (GenerationRequest, JobRequest, TurnOrder)](
    kind: QueuedWork[R], work: OpenWork[R], now: datetime, lost_before: datetime
) -> bool:
    is_lost = work.touched_at < lost_before
    try:
        if is_lost:
            kind.end_lease(work.request, lost_before)
        idle_since = kind.idle_since(work.request)
    except NotFound:
        idle_since = None
    if idle_since is None:
        open_work.remove(work)
        return False
    if not is_lost and now - max(idle_since, work.touched_at) < kind.resend_after:
        return False
    queues.send(kind.queue_url(), [work.request], group=work.request.workspace)
    open_work.touch(work, now)
    return True
