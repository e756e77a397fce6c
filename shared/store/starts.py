"""Idempotency-Keys of `POST /runs`.

A key is reserved with the id its run will have, and answered in the transaction that creates the run. So a crash in
between leaves a reservation that the next try takes over with the same id, and two tries never make two runs.
"""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from shared.clock import from_iso, to_iso
from shared.store import keys
from shared.store.table import Item

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

    OURS = "ours"
    ANSWERED = "answered"
    IN_FLIGHT = "in flight"
    OTHER_BODY = "other body"


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def reserve(workspace: str, key: str, body: str, run_id: str, now: datetime) -> tuple[Stand, StartItem]:
    """Reserves the key for a run of this id, or tells how it stands; the item is the one that holds the key."""
    pk = keys.start(workspace, fingerprint(key))
    wanted = StartItem(
        pk,
        "start",
        run_id=run_id,
        fingerprint=fingerprint(body),
        reserved_until=to_iso(now + _IN_FLIGHT),
        ttl=int((now + KEPT).timestamp()),
    )
    try:
        wanted.save(condition=StartItem.pk.does_not_exist() | (StartItem.ttl < int(now.timestamp())))
    except PutError as error:
        if error.cause_response_code != "ConditionalCheckFailedException":
            raise
        return _stand(wanted, StartItem.get(pk, "start", consistent_read=True), now)
    return Stand.OURS, wanted


def _stand(wanted: StartItem, held: StartItem, now: datetime) -> tuple[Stand, StartItem]:
    if held.fingerprint != wanted.fingerprint:
        return Stand.OTHER_BODY, held
    if held.answer is not None:
        return Stand.ANSWERED, held
    if from_iso(held.reserved_until) > now:
        return Stand.IN_FLIGHT, held
    held.update(
        actions=[StartItem.reserved_until.set(wanted.reserved_until)],
        condition=StartItem.reserved_until == held.reserved_until,
    )
    return Stand.OURS, held
