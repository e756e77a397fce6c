"""How an outcome stands in the table. Short contents lie in the item, long ones in the bucket."""

import zlib
from datetime import datetime
from typing import Any

import orjson
from pynamodb.attributes import BinaryAttribute, BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute

from shared.clock import from_iso, to_iso
from shared.domain.conversation import ErrorCode, Message, Role, Usage
from shared.domain.transcripts import Outcome, ProbeError, Result, Summary, Transcript
from shared.errors import NotFound
from shared.ids import new_id
from shared.messages import RunRef
from shared.store import blobs, keys
from shared.store.table import Item

INLINE_BYTES = 8_192
"""Larger contents go to S3, so that an item costs few write units."""


class OutcomeItem(Item):
    """Few attributes, because each costs bytes of every item; what no condition asks for lies in `body`."""

    completed = BooleanAttribute()
    epoch = NumberAttribute()
    body = JSONAttribute()
    messages = UnicodeAttribute(null=True)
    packed = BinaryAttribute(null=True, legacy_encoding=False)
    """The messages, compressed; `messages` instead where that is not shorter."""
    messages_key = UnicodeAttribute(attr_name="messagesKey", null=True)
    summary = JSONAttribute(null=True)
    last_accessed_at = UnicodeAttribute(attr_name="lastAccessedAt", null=True)
    ttl = NumberAttribute(null=True)

    @property
    def index(self) -> int:
        return int(self.sk.partition("#")[0])


def to_item(ref: RunRef, epoch: int, outcome: Outcome) -> OutcomeItem:
    """Writes a long content to the bucket on the way."""
    item = OutcomeItem(
        keys.probes(ref, outcome.probe_index),
        keys.probe(outcome.probe_index),
        completed=isinstance(outcome, Transcript),
        epoch=epoch,
        body={
            "scenarioId": outcome.scenario_id,
            "modelId": outcome.model_id,
            "createdAt": to_iso(outcome.created_at),
        },
    )
    if isinstance(outcome, ProbeError):
        item.body |= {"code": outcome.code, "message": outcome.message, "attempts": outcome.attempts}
    else:
        _fill(ref, item, outcome)
    return item


def from_item(item: OutcomeItem) -> Outcome:
    return _transcript(item) if item.completed else _error(item)


def summary_to_json(summary: Summary) -> dict[str, object]:
    body = {
        "decisionCode": summary.decision_code,
        "decisionText": summary.decision_text,
        "summarizedAt": to_iso(summary.summarized_at),
        "error": summary.error,
    }
    return {name: value for name, value in body.items() if value is not None}


def _fill(ref: RunRef, item: OutcomeItem, transcript: Transcript) -> None:
    result, expires = transcript.result, transcript.content_expires_at
    item.body |= {
        "modelVersion": transcript.model_version,
        "turnCount": transcript.turn_count,
        "inputTokens": transcript.usage.input_tokens,
        "outputTokens": transcript.usage.output_tokens,
        "durationMs": transcript.duration_ms,
        "costUsd": transcript.cost_usd,
        "contentExpiresAt": expires and to_iso(expires),
        "result": result and {"success": result.success, "score": result.score, "reason": result.reason},
    }
    if transcript.summary is not None:
        item.summary = summary_to_json(transcript.summary)
    if expires is not None:
        item.ttl = int(expires.timestamp())
    messages = [{"role": message.role, "content": message.content} for message in transcript.messages]
    text = orjson.dumps(messages)
    if len(text) <= INLINE_BYTES:
        # 10 microseconds of CPU make 0.8 KB of 1.5.
        packed = zlib.compress(text)
        item.packed, item.messages = (packed, None) if len(packed) < len(text) else (None, text.decode())
    else:
        # Each writer has an object of its own: the one who loses must not replace what the winner's item names.
        item.messages_key = keys.transcript_blob(ref, transcript.probe_index, new_id("content"))
        blobs.put_json(item.messages_key, messages)


def _transcript(item: OutcomeItem) -> Transcript:
    body: dict[str, Any] = item.body
    return Transcript(
        probe_index=item.index,
        scenario_id=item.body["scenarioId"],
        model_id=item.body["modelId"],
        model_version=body["modelVersion"],
        messages=_messages(item),
        turn_count=body["turnCount"],
        usage=Usage(body["inputTokens"], body["outputTokens"]),
        duration_ms=body["durationMs"],
        cost_usd=body["costUsd"],
        created_at=from_iso(item.body["createdAt"]),
        summary=_summary(item.summary) if item.summary else None,
        result=Result(**body["result"]) if body["result"] else None,
        content_expires_at=_moment(body["contentExpiresAt"]),
        last_accessed_at=_moment(item.last_accessed_at),
    )


def _error(item: OutcomeItem) -> ProbeError:
    return ProbeError(
        probe_index=item.index,
        scenario_id=item.body["scenarioId"],
        model_id=item.body["modelId"],
        code=ErrorCode(item.body["code"]),
        message=item.body["message"],
        attempts=item.body["attempts"],
        created_at=from_iso(item.body["createdAt"]),
    )


def _messages(item: OutcomeItem) -> tuple[Message, ...]:
    """Empty when the content expired between its item and its object."""
    if item.packed is not None:
        found = orjson.loads(zlib.decompress(item.packed))
    elif item.messages is not None:
        found = orjson.loads(item.messages)
    else:
        try:
            found = blobs.get_json(item.messages_key)
        except NotFound:
            found = []
    return tuple(Message(Role(message["role"]), message["content"]) for message in found)


def _summary(body: dict[str, Any]) -> Summary:
    return Summary(body["decisionCode"], body["decisionText"], from_iso(body["summarizedAt"]), body.get("error"))


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
