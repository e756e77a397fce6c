"""Changes of the retention period of chats.

Chats expire a retention period after their last change. When the period is changed, their entries in the list of
erasures are moved, some in each sweep.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from cupel_core.base.messages import ChatRef
from cupel_core.store import chats, erasures, sweep_cursors
from cupel_core.store.erasures import Erasure, ErasureKind
from cupel_core.store.settings import settings

MAX_ENTRIES = 500
"""One sweep reads at most this many entries. A million take a day and a half."""
_NAME = "chat-retention"
_DONE = "~"
"""A cursor that sorts after every entry."""
_RESERVE_SECONDS = 5.0


def apply_retention(now: datetime, seconds_left: Callable[[], float]) -> int:
    """Move the entries of chats if the retention period is not that of the last pass. Return how many were moved. A
    pass continues where the last sweep has stopped, and begins anew if the period has changed meanwhile."""
    days = str(settings().transcript_retention_days)
    stored_days, _, position = (sweep_cursors.get(_NAME) or "").partition(" ")
    if stored_days != days:
        position = ""
    elif position == _DONE:
        return 0
    moved = read = 0
    for sort_key, erasure in islice(erasures.list_after(position or None), MAX_ENTRIES):
        if seconds_left() < _RESERVE_SECONDS:
            break
        moved += erasure.kind is ErasureKind.EXPIRED_CHAT and _move(erasure, now)
        position, read = sort_key, read + 1
    else:
        position = position if read == MAX_ENTRIES else _DONE
    sweep_cursors.save(_NAME, f"{days} {position}")
    return moved


def _move(erasure: Erasure, now: datetime) -> bool:
    """Move the entry to the time when the chat expires now. Return whether it was moved. The chat may have been used
    since, which the sweeper sees when the entry is due."""
    chat = chats.find(ChatRef(*erasure.ref))
    if chat is None or erasure.due <= now:
        return False
    entry = chats.expired_chat(chat)
    if entry.due == erasure.due:
        return False
    erasures.request(entry)
    erasures.remove(erasure)
    return True
