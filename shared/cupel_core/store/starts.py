"""Idempotency-Keys of `POST /runs`.

A key is reserved for the id its run will have and answered in the transaction that creates the run, on condition that
it is still reserved for that id. So a crash in between leaves a reservation that a later try may replace, and two
tries never make two runs.
"""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from cupel_core.clock import from_iso, to_iso
from cupel_core.store import keys
from cupel_core.store.table import Item, code_of

KEPT = timedelta(days=1)
"""How long a key is remembered."""
_IN_FLIGHT = timedelta(seconds=30)
"""No request lives longer than this; an older reservation is a crash's."""


class StartItem(Item):
    run_id = UnicodeAttribute(attr_name="runId")
    fingerprint = UnicodeAttribute()
    reserved_until = UnicodeAttribute(attr_name="reservedUntil")
    answer = UnicodeAttribute(null=True)
    ttl = NumberAttribute()


class Stand(StrEnum):
    """How an Idempotency-Key stands towards a request."""

    FREE = "free"
    ANSWERED = "answered"
    IN_FLIGHT = "in flight"
    OTHER_BODY = "other body"


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def stand(workspace: str, key: str, body: str, now: datetime) -> tuple[Stand, StartItem | None]:
    """How the key stands towards this body; FREE when nobody holds it."""
    try:
        held = StartItem.get(_partition(workspace, key), "start", consistent_read=True)
    except StartItem.DoesNotExist:
        return Stand.FREE, None
    if held.ttl < now.timestamp():
        return Stand.FREE, held
    if held.fingerprint != fingerprint(body):
        return Stand.OTHER_BODY, held
    if held.answer is not None:
        return Stand.ANSWERED, held
    return (Stand.IN_FLIGHT if from_iso(held.reserved_until) > now else Stand.FREE), held


def reserve(workspace: str, key: str, body: str, run_id: str, now: datetime) -> StartItem | None:
    """Reserves a free key for a run of this id; None when somebody else was faster."""
    wanted = StartItem(
        _partition(workspace, key),
        "start",
        run_id=run_id,
        fingerprint=fingerprint(body),
        reserved_until=to_iso(now + _IN_FLIGHT),
        ttl=int((now + KEPT).timestamp()),
    )
    abandoned = StartItem.answer.does_not_exist() & (StartItem.reserved_until < to_iso(now))
    forgotten = StartItem.ttl < int(now.timestamp())
    try:
        wanted.save(condition=StartItem.pk.does_not_exist() | abandoned | forgotten)
    except PutError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        return None
    return wanted


def _partition(workspace: str, key: str) -> str:
    return keys.start(workspace, fingerprint(key))
