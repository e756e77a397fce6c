"""Idempotency-Keys: a request repeated with the same key creates nothing new and gets the first answer."""

import re
from collections.abc import Mapping
from datetime import datetime

from cupel_core.base.errors import Conflict, InProgress, Invalid
from cupel_core.store import idempotency_keys
from cupel_core.store.idempotency_keys import IdempotencyItem, KeyState

HEADER = "Idempotency-Key"
MAX_LENGTH = 255
PATTERN = "^[!-~]*$"


ALTERNATIVE = "x-idempotency-key"
"""Clients of an earlier system send this name."""


def read_key(headers: Mapping[str, str]) -> str | None:
    """Return the key in a request's headers (names in lower case). Raise Invalid if `check_key` refuses it or two
    differ."""
    key, alternative = headers.get(HEADER.lower()), headers.get(ALTERNATIVE)
    if key is not None and alternative is not None and key != alternative:
        raise Invalid.field(ALTERNATIVE, f"differs from {HEADER}; send one of them")
    return check_key(key) if key is not None else check_key(alternative, ALTERNATIVE)


def find_key(headers: Mapping[str, str]) -> str | None:
    """Return the key in a request's headers without checking it."""
    return headers.get(HEADER.lower(), headers.get(ALTERNATIVE))


def check_key(key: str | None, field: str = HEADER) -> str | None:
    """Return the key. Raise Invalid if it is empty, too long or has other than visible ASCII characters."""
    if key is not None and not (0 < len(key) <= MAX_LENGTH and re.fullmatch(PATTERN, key)):
        raise Invalid.field(field, f"must be 1 to {MAX_LENGTH} visible ASCII characters")
    return key


def find_answer(workspace: str, key: str, body: str, now: datetime) -> IdempotencyItem | None:
    """Return the stored answer to an earlier request with this key and body, or None if the key is free. Raise
    InProgress while the earlier request is in flight, Conflict if it took effect but ended without an answer, and
    Invalid if the key was used with another body."""
    state, item = idempotency_keys.get_state(workspace, key, body, now)
    if state is KeyState.IN_FLIGHT:
        raise _in_flight()
    if state is KeyState.OTHER_BODY:
        raise Invalid.field(HEADER, "was used with another request; use a new key for a new request")
    if state is KeyState.UNANSWERED:
        raise Conflict("the first request with this Idempotency-Key took effect, but its response was lost")
    return item if state is KeyState.ANSWERED else None


def reserve(workspace: str, key: str, body: str, resource_id: str, now: datetime) -> IdempotencyItem:
    """Reserve a free key for the resource that is about to be created. Raise InProgress if another request has just
    done so."""
    reservation = idempotency_keys.reserve(workspace, key, body, resource_id, now)
    if reservation is None:
        raise _in_flight()
    return reservation


def _in_flight() -> InProgress:
    return InProgress("a request with this Idempotency-Key is in progress; repeat it in a few seconds")
