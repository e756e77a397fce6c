"""A conversation as far as it was paid for: where a redelivered probe goes on.

An item holds 400 KB. Conversations compress well, to about a quarter, and one that is longer still goes to the bucket.
"""

import zlib
from datetime import datetime, timedelta

import orjson
from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.domain.turns.conversation import Dialogue, Spend, Verdict
from cupel_core.domain.turns.model_request import Message, Role, Usage
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.store import blobs, keys
from cupel_core.store.table import Item

KEPT = timedelta(days=90)
"""Longer than a run is paused; after that the conversation begins anew."""
_ITEM_BYTES = 350_000


class CheckpointItem(Item):
    content = BinaryAttribute(null=True, legacy_encoding=False)
    content_key = UnicodeAttribute(attr_name="contentKey", null=True)
    ttl = NumberAttribute()


def put(ref: RunRef, index: int, generation: int, dialogue: Dialogue, now: datetime) -> None:
    body = {
        "messages": [[message.role, message.content] for message in dialogue.messages],
        "turns": dialogue.turns,
        "usage": [dialogue.usage.input_tokens, dialogue.usage.output_tokens],
        "durationMs": dialogue.duration_ms,
        "costUsd": dialogue.cost_usd,
        "modelVersion": dialogue.model_version,
        "finishReason": dialogue.finish_reason,
        "verdict": dialogue.verdict and dialogue.verdict.to_json(),
        "judge": dialogue.judge.to_json(),
        "persona": dialogue.persona.to_json(),
        "threadId": dialogue.thread_id,
        "output": dialogue.output,
    }
    item = CheckpointItem(keys.turns(ref, index), keys.at(index, generation), ttl=int((now + KEPT).timestamp()))
    packed = zlib.compress(orjson.dumps(body))
    if len(packed) <= _ITEM_BYTES:
        item.content = packed
    else:
        item.content_key = keys.checkpoint_blob(ref, index, new_id("content"))
        blobs.put_json(item.content_key, body)
    item.save()


def get(ref: RunRef, index: int, generation: int) -> Dialogue | None:
    try:
        item = CheckpointItem.get(keys.turns(ref, index), keys.at(index, generation), consistent_read=True)
    except CheckpointItem.DoesNotExist:
        return None
    body = blobs.get_json(item.content_key) if item.content is None else orjson.loads(zlib.decompress(item.content))
    return Dialogue(
        messages=tuple(Message(Role(role), content) for role, content in body["messages"]),
        turns=body["turns"],
        usage=Usage(*body["usage"]),
        duration_ms=body["durationMs"],
        cost_usd=body["costUsd"],
        model_version=body["modelVersion"],
        finish_reason=body["finishReason"],
        verdict=Verdict.from_json(body["verdict"]) if body["verdict"] else None,
        judge=Spend.from_json(body["judge"]),
        persona=Spend.from_json(body["persona"]),
        thread_id=body["threadId"],
        output=body["output"],
    )
