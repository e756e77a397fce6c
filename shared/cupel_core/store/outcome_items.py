"""Outcomes as items. Most are built from their entry in a page, and stored only once something about them changes.

Short contents are in the page, or in the item once they have changed. Long ones are in the bucket.
"""

import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

import orjson
from pynamodb.attributes import BinaryAttribute, BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, decode_all, encode
from cupel_core.domain.conversations.conversation import ConversationState, StopReason, Verdict
from cupel_core.domain.conversations.model_request import Message, ProbeErrorCode, RequestParameter, Usage
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.leaf_log import LoggedOutcome
from cupel_core.domain.runs.run_spend import Cost
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript, TranscriptResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.table import Item

if TYPE_CHECKING:
    from cupel_core.domain.pipeline.turns import PipelineState

MAX_INLINE_BYTES = 8_192
"""Larger contents are stored in S3, so that an item costs few write units."""


_NO_CONTENT: dict[str, Any] = {"messages": []}


class OutcomeItem(Item):
    """The item of an outcome. It has few attributes, because each costs bytes in every item; fields that no condition
    needs are in `body`."""

    completed = BooleanAttribute()
    fencing_token = NumberAttribute(attr_name="fencingToken")
    body = JSONAttribute()
    content = UnicodeAttribute(null=True)
    packed = BinaryAttribute(null=True, legacy_encoding=False)
    """Messages and scoring, compressed. They are stored as `content` if compressing does not make them shorter."""
    content_key = UnicodeAttribute(attr_name="contentKey", null=True)
    page = UnicodeAttribute(null=True)
    summary = JSONAttribute(null=True)
    is_summary_provisional = BooleanAttribute(attr_name="isSummaryProvisional", null=True)
    """Present until a judge has written the summary's text."""
    correction = JSONAttribute(null=True)
    last_accessed_at = UnicodeAttribute(attr_name="lastAccessedAt", null=True)
    erased_at = UnicodeAttribute(attr_name="erasedAt", null=True)
    """The time when the content was erased. From then on nothing that quotes it may be written."""

    @property
    def index(self) -> int:
        return int(self.sk.partition("#")[0])


class StoredOutcome(Protocol):
    """A stored outcome is its own item or its entry in a page. See `OutcomeItem` for the fields."""

    @property
    def index(self) -> int: ...
    @property
    def completed(self) -> bool: ...
    @property
    def fencing_token(self) -> float: ...
    @property
    def body(self) -> Any: ...
    @property
    def content(self) -> str | None: ...
    @property
    def packed(self) -> bytes | None: ...
    @property
    def content_key(self) -> str | None: ...
    @property
    def page(self) -> str | None: ...
    @property
    def summary(self) -> Any: ...
    @property
    def is_summary_provisional(self) -> bool | None: ...
    @property
    def correction(self) -> Any: ...
    @property
    def last_accessed_at(self) -> str | None: ...
    @property
    def erased_at(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    index: int
    completed: bool
    fencing_token: int
    body: dict[str, Any]
    content_key: str | None = None
    page: str | None = None
    summary: dict[str, Any] | None = None
    is_summary_provisional: bool | None = None
    erased_at: str | None = None
    content: None = None
    packed: None = None
    correction: None = None
    last_accessed_at: None = None


def own_item_of(ref: RunRef, stored: StoredOutcome) -> OutcomeItem:
    if isinstance(stored, OutcomeItem):
        return stored
    return OutcomeItem(
        keys.probes(ref, stored.index),
        keys.probe(stored.index),
        completed=stored.completed,
        fencing_token=stored.fencing_token,
        body=stored.body,
        content_key=stored.content_key,
        page=stored.page,
        summary=stored.summary,
        is_summary_provisional=stored.is_summary_provisional,
        erased_at=stored.erased_at,
    )


def to_item(ref: RunRef, fencing_token: int, outcome: Outcome) -> OutcomeItem:
    item = OutcomeItem(
        keys.probes(ref, outcome.probe_index),
        keys.probe(outcome.probe_index),
        completed=isinstance(outcome, Transcript),
        fencing_token=fencing_token,
        body={
            "scenarioId": outcome.scenario_id,
            "modelId": outcome.model_id,
            "createdAt": to_iso(outcome.created_at),
        }
        | _present(personaId=outcome.persona_id, retryRound=outcome.retry_round if outcome.retry_round > 1 else None),
    )
    if isinstance(outcome, Transcript):
        _fill_transcript(item, outcome)
    else:
        _fill_error(item, outcome)
    return item


def encode_content(transcript: Transcript) -> bytes:
    return orjson.dumps(_content_of(transcript))


def store_content(ref: RunRef, item: OutcomeItem, content: bytes) -> None:
    """Store the content in the item, or in the bucket if it is long."""
    if len(content) > MAX_INLINE_BYTES:
        item.content_key = new_content_key(ref, item.index)
        blobs.put_text(item.content_key, content)
    else:
        # 1.5 KB become 0.8 KB in 10 microseconds of CPU.
        packed = zlib.compress(content)
        item.packed, item.content = (packed, None) if len(packed) < len(content) else (None, content.decode())


def new_content_key(ref: RunRef, index: int) -> str:
    """Return a new key per writer, so that a writer that loses does not replace the object that the winner's item
    names."""
    return object_names.transcript_blob(ref, index, new_id("content"))


def from_item(item: StoredOutcome, content_in_page: dict[str, Any] | None = None) -> Outcome:
    """Build the outcome. `content_in_page` is its entry in the page that has its content, if that exists."""
    return _transcript(item, _content(item, content_in_page)) if item.completed else _error(item)


def digest(item: StoredOutcome) -> Outcome:
    """Build the outcome without its messages, without reading a page or the bucket."""
    return _transcript(item, _NO_CONTENT) if item.completed else _error(item)


def erased_entry(item: StoredOutcome, now: datetime) -> OutcomeEntry:
    """Return the outcome without its content and without what quotes it."""
    after = digest(item).without_content()
    body = {**item.body, "message": after.message} if isinstance(after, ProbeError) else item.body
    summary = summary_to_json(after.summary) if isinstance(after, Transcript) and after.summary else item.summary
    return OutcomeEntry(
        item.index,
        item.completed,
        int(item.fencing_token),
        body,
        summary=summary,
        is_summary_provisional=item.is_summary_provisional,
        erased_at=to_iso(now),
    )


def spending_of(item: StoredOutcome) -> Spending:
    """Return what an outcome has cost, without reading its content."""
    return digest(item).spending


def summary_to_json(summary: Summary) -> dict[str, object]:
    body = {
        "decisionCode": summary.decision_code,
        "decisionText": summary.decision_text,
        "summarizedAt": to_iso(summary.summarized_at),
        "error": summary.error,
        "spend": encode(summary.spend) if summary.spend.has_calls else None,
        "cause": encode(summary.cause) if summary.cause else None,
    }
    return {name: value for name, value in body.items() if value is not None}


def _fill_error(item: OutcomeItem, error: ProbeError) -> None:
    item.body |= {"code": error.code, "message": error.message, "attempts": error.attempts}
    item.body |= _present(
        contentExpiresAt=error.content_expires_at and to_iso(error.content_expires_at),
        spending=encode(error.spending) or None,
        startedAt=error.started_at and to_iso(error.started_at),
    )


def _fill_transcript(item: OutcomeItem, transcript: Transcript) -> None:
    state, expires = transcript.conversation, transcript.content_expires_at
    item.body |= {
        "modelVersion": state.model_version,
        "turnCount": state.turns,
        **encode(state.usage),
        "durationMs": state.duration_ms,
        "costUsd": state.cost_usd,
        "contentExpiresAt": expires and to_iso(expires),
    }
    item.body |= _present(
        finishReason=state.finish_reason,
        toolRounds=state.tool_rounds or None,
        turnMs=list(state.turn_durations_ms) or None if state.turns > 1 else None,
        stopReason=state.stop_reason,
        threadId=state.thread_id,
        startedAt=state.started_at and to_iso(state.started_at),
        omittedParameters=list(state.omitted_parameters) or None,
        judge=encode(state.judge_spend) if state.judge_spend.has_calls else None,
        persona=encode(state.persona_spend) if state.persona_spend.has_calls else None,
        unusable=encode(state.unusable) if state.unusable.has_calls else None,
        operation=encode(state.pipeline.spend) if state.pipeline and state.pipeline.spend.has_calls else None,
        wordCount=transcript.word_count,
        # The statistics of a run are computed from this, without reading the content.
        scored=transcript.scoring and transcript.scoring.digest(),
    )
    if transcript.summary is not None:
        item.summary = summary_to_json(transcript.summary)
        item.is_summary_provisional = transcript.summary.is_provisional or None


def _content_of(transcript: Transcript) -> dict[str, Any]:
    state, scoring = transcript.conversation, transcript.scoring
    return _present(
        messages=[message.to_json() for message in state.messages],
        # The figures of a single reply are those of its conversation.
        replies=[encode(reply) for reply in state.replies] if state.target_calls > 1 else None,
        simulatedUserPrompt=state.simulated_user_prompt,
        output=state.output,
        pipeline=state.pipeline and encode(state.pipeline),
        scoring=scoring and encode(scoring),
    )


def _transcript(item: StoredOutcome, content: dict[str, Any]) -> Transcript:
    body: dict[str, Any] = item.body
    return Transcript(
        probe_index=item.index,
        scenario_id=body["scenarioId"],
        model_id=body["modelId"],
        created_at=from_iso(body["createdAt"]),
        conversation=_conversation(body, content),
        persona_id=body.get("personaId"),
        retry_round=body.get("retryRound", 1),
        summary=_summary(item),
        scoring=_scoring(body, content),
        correction=TranscriptResult(**item.correction) if item.correction else None,
        content_expires_at=_moment(body["contentExpiresAt"]),
        last_accessed_at=_moment(item.last_accessed_at),
        stored_word_count=body["wordCount"],
    )


def _scoring(body: dict[str, Any], content: dict[str, Any]) -> Scoring | None:
    """Build the scoring. If the content is gone, it has no reasons and single results."""
    scoring = content.get("scoring")
    if scoring:
        return decode(Scoring, scoring)
    return Scoring.from_digest(body["scored"]) if "scored" in body and not content["messages"] else None


def _conversation(body: dict[str, Any], content: dict[str, Any]) -> ConversationState:
    scoring = content.get("scoring") or {}
    verdict = scoring.get("verdict")
    return ConversationState(
        messages=tuple(map(Message.from_json, content["messages"])),
        turns=body["turnCount"],
        tool_rounds=body.get("toolRounds", 0),
        stop_reason=StopReason(body["stopReason"]) if "stopReason" in body else None,
        replies=decode_all(ReplyRecord, content.get("replies", ())),
        usage=decode(Usage, body),
        duration_ms=body["durationMs"],
        cost_usd=body["costUsd"],
        model_version=body["modelVersion"],
        finish_reason=body.get("finishReason"),
        verdict=decode(Verdict, verdict) if verdict else None,
        judge_spend=decode(Spend, body["judge"]) if "judge" in body else Spend(),
        persona_spend=decode(Spend, body["persona"]) if "persona" in body else Spend(),
        unusable=decode(Spend, body["unusable"]) if "unusable" in body else Spend(),
        thread_id=body.get("threadId"),
        started_at=_moment(body.get("startedAt")),
        output=content.get("output"),
        omitted_parameters=tuple(map(RequestParameter, body.get("omittedParameters", ()))),
        simulated_user_prompt=content.get("simulatedUserPrompt"),
        pipeline=_pipeline(body, content),
    )


def _pipeline(body: dict[str, Any], content: dict[str, Any]) -> "PipelineState | None":
    """Build the pipeline's state. Its spending is known even without the content."""
    if not content.get("pipeline") and "operation" not in body:
        return None
    from cupel_core.domain.pipeline.turns import PipelineState  # It imports much, and few conversations have one.

    if content.get("pipeline"):
        return decode(PipelineState, content["pipeline"])
    return PipelineState(past_spend=decode(Spend, body["operation"]))


def _error(item: StoredOutcome) -> ProbeError:
    return ProbeError(
        probe_index=item.index,
        scenario_id=item.body["scenarioId"],
        model_id=item.body["modelId"],
        code=ProbeErrorCode(item.body["code"]),
        message=item.body["message"],
        attempts=item.body["attempts"],
        created_at=from_iso(item.body["createdAt"]),
        persona_id=item.body.get("personaId"),
        retry_round=item.body.get("retryRound", 1),
        content_expires_at=_moment(item.body.get("contentExpiresAt")),
        spending=decode(Spending, item.body.get("spending", {})),
        started_at=_moment(item.body.get("startedAt")),
    )


def _content(item: StoredOutcome, content_in_page: dict[str, Any] | None) -> dict[str, Any]:
    """Read the content. It has no messages if it was deleted, or its object or page expired before its item."""
    content: dict[str, Any] = _NO_CONTENT
    if item.packed is not None:
        content = orjson.loads(zlib.decompress(item.packed))
    elif item.content is not None:
        content = orjson.loads(item.content)
    elif item.content_key is not None:
        with suppress(NotFound):
            content = blobs.get_json(item.content_key)
    elif content_in_page is not None:
        content = content_in_page
    return content


def _present(**fields: object) -> dict[str, Any]:
    """Return the fields that have a value, because each costs bytes in every item."""
    return {name: value for name, value in fields.items() if value is not None}


def _summary(item: StoredOutcome) -> Summary | None:
    if not item.summary:
        return None
    body: dict[str, Any] = item.summary
    return Summary(
        body["decisionCode"],
        body["decisionText"],
        from_iso(body["summarizedAt"]),
        body.get("error"),
        decode(Spend, body["spend"]) if "spend" in body else Spend(),
        is_provisional=bool(item.is_summary_provisional),
        cause=decode(UnscoredCause, body["cause"]) if body.get("cause") else None,
    )


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None


def logged_outcome(item: StoredOutcome) -> LoggedOutcome:
    """Describe the outcome for the leaf's log. The result is the same after the message of an error was erased."""
    identity = crc32(orjson.dumps({name: value for name, value in item.body.items() if name != "message"})) & 0xFFFF
    return LoggedOutcome(item.completed, Cost.of(spending_of(item)), identity)
