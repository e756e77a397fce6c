"""A conversation of several turns up to its last complete turn: where a redelivered probe goes on."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from pynamodb.attributes import BinaryAttribute, NumberAttribute

from shared.domain.conversation import Message, Role, Usage
from shared.messages import RunRef
from shared.store import keys
from shared.store.table import Item

KEPT = timedelta(days=90)
"""Longer than a run is paused; after that the conversation begins anew."""


class CheckpointItem(Item):
    content = BinaryAttribute(legacy_encoding=False)
    ttl = NumberAttribute()


@dataclass(frozen=True)
class Checkpoint:
    """The messages up to and with the last answer, and what the turns so far have used."""

    messages: tuple[Message, ...]
    turns: int
    usage: Usage
    duration_ms: int
    cost_usd: float | None
    model_version: str | None


def put(ref: RunRef, index: int, generation: int, checkpoint: Checkpoint, now: datetime) -> None:
    body = {
        "messages": [[message.role, message.content] for message in checkpoint.messages],
        "turns": checkpoint.turns,
        "usage": [checkpoint.usage.input_tokens, checkpoint.usage.output_tokens],
        "durationMs": checkpoint.duration_ms,
        "costUsd": checkpoint.cost_usd,
        "modelVersion": checkpoint.model_version,
    }
    CheckpointItem(
        keys.turns(ref, index),
        keys.at(index, generation),
        content=orjson.dumps(body),
        ttl=int((now + KEPT).timestamp()),
    ).save()


def get(ref: RunRef, index: int, generation: int) -> Checkpoint | None:
    try:
        item = CheckpointItem.get(keys.turns(ref, index), keys.at(index, generation), consistent_read=True)
    except CheckpointItem.DoesNotExist:
        return None
    body = orjson.loads(item.content)
    return Checkpoint(
        messages=tuple(Message(Role(role), content) for role, content in body["messages"]),
        turns=body["turns"],
        usage=Usage(*body["usage"]),
        duration_ms=body["durationMs"],
        cost_usd=body["costUsd"],
        model_version=body["modelVersion"],
    )
