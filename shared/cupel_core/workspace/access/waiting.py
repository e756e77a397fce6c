"""Limits of waiting requests: at most a few of each token, of each workspace, and of the stack may wait.

A waiting request takes an execution environment (on one machine, a process) for seconds, which no limit of requests per
second bounds. It leaves the lists when it ends. If its process dies, its entries expire with its waiting time.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from cupel_core.base.errors import RetryableError
from cupel_core.base.ids import new_short_id
from cupel_core.domain.access import Caller
from cupel_core.domain.limits.slots import Slot, Slots
from cupel_core.domain.limits.waiting import RETRY_AFTER_SECONDS, WaitingLimits
from cupel_core.store import slots
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings
from cupel_core.store.versioned_items import Versioned
from cupel_core.workspace.access.request_rates import key_of

_MARGIN_SECONDS = 10.0
"""The allowance for the work of a request besides waiting."""
_REQUEST_SECONDS = 29.0
"""No request takes longer."""
_OWNER_LENGTH = 16
"""Number of hexadecimal digits that identify a token among those of a workspace."""


class TooManyWaiting(RetryableError):
    """Too many requests wait for other servers already."""

    status = 429
    title = "Too many waiting requests"

    def __init__(self) -> None:
        super().__init__(
            "too many requests of this token, its workspace or the stack are waiting for others; repeat it later",
            RETRY_AFTER_SECONDS,
        )


@contextmanager
def may_wait(caller: Caller, seconds: float = _REQUEST_SECONDS) -> Iterator[bool]:
    """Yield whether a request of the caller may wait for this long. While the block runs, it counts as waiting. It may
    not wait if the lists cannot be changed now, because of concurrent changes or an outage of DynamoDB."""
    now, request_id, limits = time.time(), new_short_id(), settings().workspace_quotas.waiting
    until = now + min(seconds + _MARGIN_SECONDS, _REQUEST_SECONDS)
    of_token, of_workspace = Slot(key_of(caller)[:_OWNER_LENGTH], until), Slot(caller.workspace, until)
    of_stack = WaitingLimits(per_owner=limits.total, total=settings().max_waiting_requests)
    with ExitStack() as entered:
        is_permitted = _enters(entered, caller.workspace, request_id, of_token, limits, now) and _enters(
            entered, None, request_id, of_workspace, of_stack, now
        )
        if not is_permitted:
            entered.close()
        yield is_permitted


@contextmanager
def waiting(caller: Caller) -> Iterator[None]:
    """Count a request of the caller as waiting while the block runs. Raise TooManyWaiting if it may not wait."""
    with may_wait(caller) as is_permitted:
        if not is_permitted:
            raise TooManyWaiting
        yield


def _enters(
    entered: ExitStack, workspace: str | None, request_id: str, slot: Slot, limits: WaitingLimits, now: float
) -> bool:
    """Return whether the list has room for the request. It is removed from all lists when `entered` closes."""
    with suppress(RetryableError, *AWS_ERRORS):
        key = slots.waiting_requests(workspace)
        listed = slots.change(key, lambda taken: taken.take(request_id, slot, limits.have_room, now))
        if request_id in listed.value:
            entered.callback(_leave, key, request_id, listed)
            return True
    return False


def _leave(key: slots.ItemKey, request_id: str, last: Versioned[Slots]) -> None:
    with suppress(RetryableError, *AWS_ERRORS):  # Otherwise its entry expires.
        slots.change(key, lambda taken: taken.release(request_id), last)
