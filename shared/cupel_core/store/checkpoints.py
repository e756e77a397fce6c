"""Checkpoints: conversations up to their last completed step, from which a redelivered probe resumes.

An item holds 400 KB. Conversations compress to about a quarter; one that is still too large is stored in the bucket.
Erasing a checkpoint leaves a tombstone, so that a worker that still has the conversation does not write it back.
"""

import zlib
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

import orjson
from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from cupel_core.base.clock import to_iso
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.runs.run_spend import Cost, checkpoint_member
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.settings import settings
from cupel_core.store.table import Item, error_code

RETENTION = timedelta(days=90)
"""A run that stays paused for longer starts its conversations over."""
_MAX_INLINE_BYTES = 350_000
_LAST_ROUND = 999_999

_TOMBSTONE_RETENTION = timedelta(days=1)
"""Longer than any invocation that may still have the conversation in memory."""


class CheckpointItem(Item):
    content = BinaryAttribute(null=True, legacy_encoding=False)
    content_key = UnicodeAttribute(attr_name="contentKey", null=True)
    erased_at = UnicodeAttribute(attr_name="erasedAt", null=True)
    cost = NumberAttribute(null=True)
    """The cost as a member of its leaf's costs. It is None in a tombstone without a conversation."""
    ttl = NumberAttribute()


def save(ref: RunRef, index: int, retry_round: int, state: ConversationState, now: datetime) -> None:
    """Store the conversation, unless it was erased. It expires like its transcript would, and at the latest after
    RETENTION."""
    expires = now + min(RETENTION, settings().retention or RETENTION)
    item = CheckpointItem(
        keys.checkpoints(ref, index),
        keys.numbered_probe(index, retry_round),
        cost=_cost_member(index, retry_round, state),
        ttl=int(expires.timestamp()),
    )
    body = encode(state)
    packed = zlib.compress(orjson.dumps(body))
    if len(packed) <= _MAX_INLINE_BYTES:
        item.content = packed
    else:
        item.content_key = object_names.checkpoint_blob(ref, index, new_id("content"))
        blobs.put_json(item.content_key, body)
    try:
        item.save(condition=CheckpointItem.erased_at.does_not_exist())
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        if item.content_key is not None:
            blobs.delete(item.content_key)


def erase(ref: RunRef, index: int, retry_round: int, now: datetime) -> None:
    """Erase the checkpoints of a probe in all retry rounds up to `retry_round`, the present one."""
    between = CheckpointItem.sk.between(keys.numbered_probe(index, 0), keys.numbered_probe(index, _LAST_ROUND))
    stored = list(CheckpointItem.query(keys.checkpoints(ref, index), between, consistent_read=True))
    costs = {keys.numbered_probe(index, retry_round): None} | {item.sk: item.cost for item in stored}
    for sort_key, cost in costs.items():
        _tombstone(keys.checkpoints(ref, index), sort_key, cost, now).save()
    for item in stored:
        if item.content_key is not None:
            blobs.delete(item.content_key)


def erase_expired(ref: RunRef, block: int, now: datetime) -> None:
    """Erase the expired checkpoints of a block of probes. DynamoDB's TTL does so too, but days later."""
    partition = keys.checkpoints(ref, block * keys.PROBES_PER_BLOCK)
    expired = CheckpointItem.query(partition, filter_condition=CheckpointItem.ttl <= int(now.timestamp()))
    for item in list(expired):
        item.delete()
        if item.content_key is not None:
            blobs.delete(item.content_key)


def _tombstone(partition: str, sort_key: str, cost: float | None, now: datetime) -> CheckpointItem:
    expires = int((now + _TOMBSTONE_RETENTION).timestamp())
    return CheckpointItem(partition, sort_key, erased_at=to_iso(now), cost=cost, ttl=expires)


def list_costs(ref: RunRef, indexes: Collection[int]) -> Iterator[int]:
    """Yield what the conversations of these probes of one leaf have cost, as members. The reads are strongly
    consistent."""
    first, last = keys.numbered_probe(min(indexes), 0), keys.numbered_probe(max(indexes), _LAST_ROUND)
    between = CheckpointItem.sk.between(first, last)
    partition = keys.checkpoints(ref, min(indexes))
    for item in CheckpointItem.query(partition, between, attributes_to_get=["sk", "cost"], consistent_read=True):
        if item.cost is not None and int(item.sk.partition("#")[0]) in indexes:
            yield int(item.cost)


def _cost_member(index: int, retry_round: int, state: ConversationState) -> int:
    return checkpoint_member(index, retry_round, Cost.of(conversation_spending(state)))


def load(ref: RunRef, index: int, retry_round: int, now: datetime) -> ConversationState | None:
    """Return the conversation, or None if there is none, or it was erased or has expired."""
    try:
        item = CheckpointItem.get(
            keys.checkpoints(ref, index), keys.numbered_probe(index, retry_round), consistent_read=True
        )
    except CheckpointItem.DoesNotExist:
        return None
    if item.erased_at is not None or item.ttl <= now.timestamp():
        return None
    body = blobs.get_json(item.content_key) if item.content is None else orjson.loads(zlib.decompress(item.content))
    return decode(ConversationState, body)
