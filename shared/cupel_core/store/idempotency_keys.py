"""Idempotency-Keys of requests that create something.

A key is reserved for an id: that of the run or rescore that the request starts, otherwise one of the request's own. The
transaction that creates something answers the key, or marks it as applied, on condition that it is still reserved for
that id. So a crash before leaves a reservation that a later request may replace, and two requests never both create.

A reservation may be replaced after 30 s; the slow first request then fails at its transaction. After a crash that
follows the first transaction, the key is answered with 409.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import DeleteError, PutError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso, utc_now
from cupel_core.store import keys
from cupel_core.store.table import Item, connection, error_code, updated

RETENTION = timedelta(days=1)
"""A key is stored for this time after its reservation."""
_IN_FLIGHT = timedelta(seconds=30)
"""No request takes longer than this; an older reservation was left by a crash."""


class IdempotencyItem(Item):
    run_id = UnicodeAttribute(attr_name="runId")
    fingerprint = UnicodeAttribute()
    reserved_until = UnicodeAttribute(attr_name="reservedUntil")
    applied_at = UnicodeAttribute(attr_name="appliedAt", null=True)
    """The time of the request's first transaction. It is absent for runs and rescores, which store their answer
    instead."""
    answer = UnicodeAttribute(null=True)
    ttl = NumberAttribute()


class KeyState(StrEnum):
    FREE = "free"
    ANSWERED = "answered"
    IN_FLIGHT = "in flight"
    OTHER_BODY = "other body"
    UNANSWERED = "unanswered"
    """The request took effect, but ended before its answer was stored."""


def fingerprint(text: str) -> str:
    """Return the SHA-256 in hex. Keys and request bodies are not stored themselves."""
    return hashlib.sha256(text.encode()).hexdigest()


def get_state(workspace: str, key: str, body: str, now: datetime) -> tuple[KeyState, IdempotencyItem | None]:
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
    if from_iso(item.reserved_until) > now:
        return KeyState.IN_FLIGHT, item
    return (KeyState.FREE if item.applied_at is None else KeyState.UNANSWERED), item


def reserve(workspace: str, key: str, body: str, run_id: str, now: datetime) -> IdempotencyItem | None:
    """Reserve a free key for this id. Return None if another request reserved it first."""
    reservation = IdempotencyItem(
        _partition(workspace, key),
        "start",
        run_id=run_id,
        fingerprint=fingerprint(body),
        reserved_until=to_iso(now + _IN_FLIGHT),
        ttl=int((now + RETENTION).timestamp()),
    )
    abandoned = (
        IdempotencyItem.answer.does_not_exist()
        & IdempotencyItem.applied_at.does_not_exist()
        & (IdempotencyItem.reserved_until < to_iso(now))
    )
    expired = IdempotencyItem.ttl < int(now.timestamp())
    try:
        reservation.save(condition=IdempotencyItem.pk.does_not_exist() | abandoned | expired)
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return None
    return reservation


def answer(reservation: IdempotencyItem, text: str) -> bool:
    """Store the answer to the request. Return False if the key is no longer reserved for it."""
    return updated(reservation, [IdempotencyItem.answer.set(text)], _is_reserved_by(reservation))


def release(reservation: IdempotencyItem, *, even_if_applied: bool) -> None:
    """Free the key of a failed request. A key marked as applied is only freed with `even_if_applied`."""
    condition = _is_reserved_by(reservation)
    if not even_if_applied:
        condition &= IdempotencyItem.applied_at.does_not_exist()
    with suppress(DeleteError):
        reservation.delete(condition=condition)


@contextmanager
def applying(reservation: IdempotencyItem) -> Iterator[None]:
    """Make every transaction of this request within the block also mark the key as applied."""
    token = _applied.set(reservation)
    try:
        yield
    finally:
        _applied.reset(token)


@contextmanager
def transaction() -> Iterator[TransactWrite]:
    """Open a transaction. It fails if another request has taken over this request's Idempotency-Key."""
    with TransactWrite(connection=connection()) as writes:
        yield writes
        mark_applied(writes)


def mark_applied(writes: TransactWrite) -> None:
    """Add the mark to a transaction that has conditions of its own."""
    if (reservation := _applied.get()) is not None:
        now = IdempotencyItem.applied_at.set(to_iso(utc_now()))
        writes.update(IdempotencyItem(reservation.pk, reservation.sk), [now], _is_reserved_by(reservation))


_applied: ContextVar[IdempotencyItem | None] = ContextVar("applied", default=None)


def _is_reserved_by(reservation: IdempotencyItem) -> Condition:
    return IdempotencyItem.run_id == reservation.run_id


def _partition(workspace: str, key: str) -> str:
    return keys.idempotency_key(workspace, fingerprint(key))
