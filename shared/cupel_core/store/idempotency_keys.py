"""Idempotency-Keys of requests that start runs and rescores.

A key is reserved for the id that its run or rescore will have. The transaction that creates the run answers the key, on
condition that it is still reserved for that id. So a crash in between leaves a reservation that a later request may
replace, and two requests never create two runs.
"""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from cupel_core.clock import from_iso, to_iso
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code

RETENTION = timedelta(days=1)
"""How long a key is stored after its reservation."""
_IN_FLIGHT = timedelta(seconds=30)
"""No request takes longer than this; an older reservation was left by a crash."""


class IdempotencyItem(Item):
    run_id = UnicodeAttribute(attr_name="runId")
    fingerprint = UnicodeAttribute()
    reserved_until = UnicodeAttribute(attr_name="reservedUntil")
    answer = UnicodeAttribute(null=True)
    ttl = NumberAttribute()


class KeyState(StrEnum):
    """The state of an Idempotency-Key for a request."""

    FREE = "free"
    ANSWERED = "answered"
    IN_FLIGHT = "in flight"
    OTHER_BODY = "other body"


def fingerprint(text: str) -> str:
    """SHA-256 in hex: keys and request bodies are not stored themselves."""
    return hashlib.sha256(text.encode()).hexdigest()


def get_state(workspace: str, key: str, body: str, now: datetime) -> tuple[KeyState, IdempotencyItem | None]:
    """The state of a key for a request with this body, and its item if there is one."""
    try:
        item = IdempotencyItem.get(_partition(workspace, key), "start", consistent_read=True)
    except IdempotencyItem.DoesNotExist:
        return KeyState.FREE, None
    if item.ttl < now.timestamp():
        return KeyState.FREE, item
    if item.fingerprint != fingerprint(body):
        return KeyState.OTHER_BODY, item
    if item.answer is not None:
        return KeyState.ANSWERED, item
    return (KeyState.IN_FLIGHT if from_iso(item.reserved_until) > now else KeyState.FREE), item


def reserve(workspace: str, key: str, body: str, run_id: str, now: datetime) -> IdempotencyItem | None:
    """Reserve a free key for a run or rescore of this id; None if another request reserved it first."""
    reservation = IdempotencyItem(
        _partition(workspace, key),
        "start",
        run_id=run_id,
        fingerprint=fingerprint(body),
        reserved_until=to_iso(now + _IN_FLIGHT),
        ttl=int((now + RETENTION).timestamp()),
    )
    abandoned = IdempotencyItem.answer.does_not_exist() & (IdempotencyItem.reserved_until < to_iso(now))
    expired = IdempotencyItem.ttl < int(now.timestamp())
    try:
        reservation.save(condition=IdempotencyItem.pk.does_not_exist() | abandoned | expired)
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return reservation


def _partition(workspace: str, key: str) -> str:
    return keys.idempotency_key(workspace, fingerprint(key))
