"""How an outcome stands in the table. Short contents lie in the item, long ones in the bucket."""

import zlib
from datetime import datetime
from typing import Any

import orjson
from pynamodb.attributes import BinaryAttribute, BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Result, Summary, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import Dialogue, Spend, Verdict
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role, Usage
from cupel_core.errors import NotFound
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.store import blobs, keys
from cupel_core.store.table import Item

INLINE_BYTES = 8_192
"""Larger contents go to S3, so that an item costs few write units."""


class OutcomeItem(Item):
    """Few attributes, because each costs bytes of every item; what no condition asks for lies in `body`."""

    completed = BooleanAttribute()
    epoch = NumberAttribute()
    body = JSONAttribute()
    content = UnicodeAttribute(null=True)
    packed = BinaryAttribute(null=True, legacy_encoding=False)
    """What was said and what it was worth, compressed; `content` instead where that is not shorter."""
    content_key = UnicodeAttribute(attr_name="contentKey", null=True)
    summary = JSONAttribute(null=True)
    correction = JSONAttribute(null=True)
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
        }
        | _told(personaId=outcome.persona_id, generation=outcome.generation if outcome.generation > 1 else None),
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
    dialogue, expires = transcript.dialogue, transcript.content_expires_at
    item.body |= {
        "modelVersion": dialogue.model_version,
        "turnCount": dialogue.turns,
        "inputTokens": dialogue.usage.input_tokens,
        "outputTokens": dialogue.usage.output_tokens,
        "durationMs": dialogue.duration_ms,
        "costUsd": dialogue.cost_usd,
        "contentExpiresAt": expires and to_iso(expires),
    }
    item.body |= _told(
        finishReason=dialogue.finish_reason,
        threadId=dialogue.thread_id,
        judge=dialogue.judge.to_json() if dialogue.judge.calls else None,
        persona=dialogue.persona.to_json() if dialogue.persona.calls else None,
        # Figures of a whole run are computed from this, without what was said.
        scored=transcript.scoring and transcript.scoring.digest(),
    )
    if transcript.summary is not None:
        item.summary = summary_to_json(transcript.summary)
    if expires is not None:
        item.ttl = int(expires.timestamp())
    _fill_content(ref, item, transcript)


def _fill_content(ref: RunRef, item: OutcomeItem, transcript: Transcript) -> None:
    dialogue, scoring = transcript.dialogue, transcript.scoring
    content = _told(
        messages=[{"role": message.role, "content": message.content} for message in dialogue.messages],
        output=dialogue.output,
        scoring=scoring and scoring.to_json(),
    )
    text = orjson.dumps(content)
    if len(text) <= INLINE_BYTES:
        # 10 microseconds of CPU make 0.8 KB of 1.5.
        packed = zlib.compress(text)
        item.packed, item.content = (packed, None) if len(packed) < len(text) else (None, text.decode())
    else:
        # Each writer has an object of its own: the one who loses must not replace what the winner's item names.
        item.content_key = keys.transcript_blob(ref, transcript.probe_index, new_id("content"))
        blobs.put_json(item.content_key, content)


def _transcript(item: OutcomeItem) -> Transcript:
    body: dict[str, Any] = item.body
    content = _content(item)
    scoring = content.get("scoring")
    return Transcript(
        probe_index=item.index,
        scenario_id=body["scenarioId"],
        model_id=body["modelId"],
        created_at=from_iso(body["createdAt"]),
        dialogue=_dialogue(body, content),
        persona_id=body.get("personaId"),
        generation=body.get("generation", 1),
        summary=_summary(item.summary) if item.summary else None,
        scoring=Scoring.from_json(scoring) if scoring else None,
        correction=Result(**item.correction) if item.correction else None,
        content_expires_at=_moment(body["contentExpiresAt"]),
        last_accessed_at=_moment(item.last_accessed_at),
    )


def _dialogue(body: dict[str, Any], content: dict[str, Any]) -> Dialogue:
    scoring = content.get("scoring") or {}
    verdict = scoring.get("verdict")
    return Dialogue(
        messages=tuple(Message(Role(message["role"]), message["content"]) for message in content["messages"]),
        turns=body["turnCount"],
        usage=Usage(body["inputTokens"], body["outputTokens"]),
        duration_ms=body["durationMs"],
        cost_usd=body["costUsd"],
        model_version=body["modelVersion"],
        finish_reason=body.get("finishReason"),
        verdict=Verdict.from_json(verdict) if verdict else None,
        judge=Spend.from_json(body["judge"]) if "judge" in body else Spend(),
        persona=Spend.from_json(body["persona"]) if "persona" in body else Spend(),
        thread_id=body.get("threadId"),
        output=content.get("output"),
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
        persona_id=item.body.get("personaId"),
        generation=item.body.get("generation", 1),
    )


def _content(item: OutcomeItem) -> dict[str, Any]:
    """Without messages when they were deleted, or expired between their item and their object."""
    found: dict[str, Any]
    if item.packed is not None:
        found = orjson.loads(zlib.decompress(item.packed))
    elif item.content is not None:
        found = orjson.loads(item.content)
    else:
        try:
            found = blobs.get_json(item.content_key) if item.content_key else {"messages": []}
        except NotFound:
            found = {"messages": []}
    return found


def _told(**fields: object) -> dict[str, Any]:
    """What is known of these: each field costs bytes of every item."""
    return {name: value for name, value in fields.items() if value is not None}


def _summary(body: dict[str, Any]) -> Summary:
    return Summary(body["decisionCode"], body["decisionText"], from_iso(body["summarizedAt"]), body.get("error"))


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
