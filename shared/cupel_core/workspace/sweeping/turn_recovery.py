"""Recovery of turns without a worker: their messages are sent again, and turns past their deadline are ended."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.chats.turns import end_without_worker
from cupel_core.domain.chats.turns import CLAIM, AbortReason
from cupel_core.store import chat_turns, chats
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST, QueuedWork, resend_lost

RESEND_AFTER = timedelta(seconds=20)
"""A turn's message is sent again after this long without a worker, which is longer than a message usually waits."""
GRACE_PERIOD = timedelta(minutes=1)
"""A worker that is about to end the turn has this long after the deadline to do so."""


def recover_turns(now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST) -> int:
    """Check every turn that is not over while time allows. Return how many messages were sent again."""
    work = QueuedWork(
        "turns",
        chat_turns.list_open,
        partial(_idle_since, now),
        lambda: settings().turn_queue_url,
        RESEND_AFTER,
        _end_claim,
    )
    return resend_lost(work, now, seconds_left, lost_before)


def _end_claim(order: TurnOrder, lost_before: datetime) -> None:
    chat_turns.end_claim(ChatRef(order.workspace, order.chat_id), order.turn_id, lost_before + CLAIM)


def _idle_since(now: datetime, order: TurnOrder) -> datetime | None:
    ref = ChatRef(order.workspace, order.chat_id)
    chats.get(ref)
    turn = chat_turns.get(ref, order.turn_id)
    if turn.status.is_over:
        return None
    is_overdue = now > turn.head.deadline_at + GRACE_PERIOD and not turn.is_claimed(now)
    if is_overdue and end_without_worker(ref, turn, now, abort_reason=AbortReason.DEADLINE):
        return None
    return max(turn.head.created_at, turn.claimed_until or turn.head.created_at)
