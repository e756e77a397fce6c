"""Turns of chats, their events, and the artifacts that they leave."""

from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from cupel_core.contract.chats import MessageText
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from, require_exactly_with
from cupel_core.contract.fields import Id, ModelId
from cupel_core.contract.results import SpendResponse
from cupel_core.domain.chats.drafts import Feed
from cupel_core.domain.chats.turns import (
    DEFAULT_DEADLINE_MS,
    MAX_DEADLINE_MS,
    MIN_DEADLINE_MS,
    AbortReason,
    ChatTurn,
    FailedType,
    TurnEvent,
    TurnEventType,
    TurnPhase,
    TurnStatus,
)
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.pipeline.artifacts import ArtifactFormat, ArtifactUsage
from cupel_core.domain.pipeline.operations import Trigger
from cupel_core.domain.pipeline.turns import StoredArtifact


class StartTurn(RequestModel):
    """`generate` sends `content` as a new message; `regenerate` has the last message answered again."""

    model_config = example({"content": "I want my money back.", "clientRequestId": "5c0f9e1a"})

    trigger: Trigger = Trigger.GENERATE
    """Answer to a new message, or another to the last one. Example: generate"""
    content: MessageText | None = None
    """The user's message; with `generate` only."""
    branch_id: Id | None = None
    """The active branch if omitted. Example: br_01k1f0aa"""
    profile_id: Id | None = None
    """Operation profile instead of the chat's; null for none in this turn. Example: prof_01"""
    model: ModelId | None = None
    """Model or agent asked in this turn instead of the chat's. The chat's settings apply, except parameters unknown
    to its provider.

    Example: openai/gpt-6.1-terra
    """
    client_request_id: (
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255, pattern=r"^[!-~]+$")] | None
    ) = None
    """The same id and body start one turn within a day, however often they are sent."""
    deadline_ms: Annotated[int, Field(strict=True, ge=MIN_DEADLINE_MS, le=MAX_DEADLINE_MS)] = DEFAULT_DEADLINE_MS
    """Milliseconds from now after which the turn is aborted. Example: 120000"""

    @model_validator(mode="after")
    def _has_content_to_answer(self) -> Self:
        require_exactly_with(self, "content", "the trigger generate", applies=self.trigger is Trigger.GENERATE)
        return self

    @property
    def has_profile(self) -> bool:
        return "profile_id" in self.model_fields_set


class TurnProfileResponse(ResponseModel):
    id: str
    """Example: prof_01"""
    version: int
    """Version number, from 1. Example: 2"""
    enabled: bool
    """True if its operations run. Example: true"""
    session_id: str
    """The profile's when the turn was accepted. Example: session_01"""


class TurnFailureResponse(ResponseModel):
    operation_id: str | None
    """The required operation that was not done. Example: tone"""
    error_code: Annotated[str, read_from("code")]
    """Kind of error; see docs/pipeline.md. Example: timeout"""
    error_message: Annotated[str, read_from("message")]
    """Description of the error. Example: no response within 60 s"""


class TurnSummaryResponse(ResponseModel):
    id: str
    """Example: turn_01k1f0aa"""
    chat_id: str
    """Its chat. Example: chat_01k1f0aa"""
    branch_id: Annotated[str, read_from("head.branch_id")]
    """Its branch. Example: br_01k1f0aa"""
    exchange_id: Annotated[str, read_from("head.exchange_id")]
    """The exchange whose answer it makes. Example: ex_01k1f0aa"""
    user_message_id: Annotated[str, read_from("head.user_message_id")]
    """The message that it answers. Example: ex_01k1f0aa.user"""
    trigger: Annotated[Trigger, read_from("head.trigger")]
    """Answer to a new message, or another to the last one. Example: generate"""
    initiator: Annotated[str, read_from("head.initiator")]
    """The id of the token that asked for it. Example: tok_01k1f0aa"""
    client_request_id: Annotated[str | None, read_from("head.client_request_id")]
    """Id that the client sent; null without one. Example: 5c0f9e1a"""
    profile: Annotated[TurnProfileResponse | None, read_from("head.profile")]
    """The profile at the version that it runs; null without one.

    Example: {"id": "prof_01", "version": 2, "enabled": true, "sessionId": "session_01"}
    """
    model: Annotated[str, read_from("head.settings.model")]
    """Example: openai/gpt-6.1-terra"""
    status: TurnStatus
    """`queued`, `running`, `done`, `failed` or `aborted`. Example: failed"""
    phase: TurnPhase
    """Current phase of the turn. Example: finished"""
    failed_type: FailedType | None
    """Part that failed: before the main call, the call, or after it; null otherwise. Example: before_barrier"""
    failed_details: Annotated[TurnFailureResponse | None, read_from("failure")]
    """Cause of the failure; null without one.

    Example: {"operationId": "tone", "errorCode": "timeout", "errorMessage": "no response within 60 s"}
    """
    abort_reason: AbortReason | None
    """`user` or `deadline`; null unless it was aborted. Example: user"""
    created_at: Annotated[Time, read_from("head.created_at")]
    """Example: 2026-11-20T09:30:00Z"""
    started_at: Time | None
    """Time at which a worker began; null before. Example: 2026-11-20T09:30:00Z"""
    finished_at: Time | None
    """Time of the end; null before. Example: 2026-11-20T09:30:00Z"""
    deadline_at: Annotated[Time, read_from("head.deadline_at")]
    """Time at which it is aborted unless it is over. Example: 2026-11-20T09:32:00Z"""
    duration_ms: int | None
    """Time from its acceptance to its end. Example: 1200"""


class ArtifactVersionResponse(ResponseModel):
    tag: str
    """Templates read the value as `art.<tag>.value`. Example: summary"""
    version: int
    """How many values it had, with this one. Example: 2"""


class ArtifactDigestResponse(ResponseModel):
    tag: str
    """Templates of the turn read the value as `art.<tag>.value`. Example: tone"""
    bytes: int
    """Of its text, or its JSON. Example: 16"""
    sha256: str
    """Of its text, or its JSON. Example: 8b74e70c3ac2a4b3b2d0b1c4a0e2cf3f1f7f0a3ea33f2f0f2a8dcd9a8e3f5b61"""


class TurnArtifactsResponse(ResponseModel):
    """The artifacts that a turn has written."""

    persisted: list[ArtifactVersionResponse]
    """Artifacts that later turns begin with. Example: [{"tag": "summary", "version": 2}]"""
    run_only: list[ArtifactDigestResponse]
    """Artifacts that last no longer than the turn.

    Example: [{"tag": "tone", "bytes": 16, "sha256":
    "8b74e70c3ac2a4b3b2d0b1c4a0e2cf3f1f7f0a3ea33f2f0f2a8dcd9a8e3f5b61"}]
    """


class TurnResponse(TurnSummaryResponse):
    left_out: list[dict[str, Any]]
    """Operations that are not part of the turn, and why.

    Example: [{"operationId": "notes", "reason": "trigger_mismatch"}]
    """
    operations: list[dict[str, Any]]
    """Result of each operation; see docs/chats.md.

    Example: [{"operationId": "tone", "name": "Tone", "hook": "before_main_llm", "status": "error"}]
    """
    main: dict[str, Any]
    """The main call; empty until the turn is over. Example: {"performed": false, "model": "openai/gpt-6.1-terra"}"""
    commits: list[dict[str, Any]]
    """Result of each effect.

    Example: [{"hook": "before_main_llm", "operationId": "tone", "effectIndex": 0, "status": "applied"}]
    """
    artifacts: TurnArtifactsResponse | None
    """Artifacts it wrote; null until it ends with an answer.

    Example: {"persisted": [{"tag": "summary", "version": 2}], "runOnly": [{"tag": "tone", "bytes": 16, "sha256":
    "8b74e70c3ac2a4b3b2d0b1c4a0e2cf3f1f7f0a3ea33f2f0f2a8dcd9a8e3f5b61"}]}
    """
    operations_spend: SpendResponse | None
    """Usage of all operations; null until it is over."""
    uncertain_usd: float | None
    """Possible further cost of calls without an answer; null until it is over. Example: 0.0002"""

    @classmethod
    def of_turn(cls, chat_id: str, turn: ChatTurn) -> "TurnResponse":
        result = turn.result or {}
        spend = result.get("operationsSpend")
        return cls.from_value(
            turn,
            chat_id=chat_id,
            left_out=result.get("leftOut", []),
            operations=result.get("operations", []),
            main=result.get("main", {}),
            commits=result.get("commits", []),
            artifacts=result.get("artifacts") or None,
            operations_spend=decode(Spend, spend) if spend else None,
            uncertain_usd=result.get("uncertainUsd"),
        )


class TurnPage(ResponseModel):
    items: list[TurnSummaryResponse]
    """Example: [{"id": "turn_01k1f0aa", "chatId": "chat_01k1f0aa", "branchId": "br_01k1f0aa", "exchangeId":
    "ex_01k1f0aa", "userMessageId": "ex_01k1f0aa.user", "trigger": "generate", "initiator": "tok_01k1f0aa",
    "clientRequestId": "5c0f9e1a", "profile": {"id": "prof_01", "version": 2, "enabled": true, "sessionId":
    "session_01"}, "model": "openai/gpt-6.1-terra", "status": "failed", "phase": "finished", "failedType":
    "before_barrier", "failedDetails": {"operationId": "tone", "errorCode": "timeout", "errorMessage": "no response
    within 60 s"}, "abortReason": "user", "createdAt": "2026-11-20T09:30:00Z", "startedAt": "2026-11-20T09:30:00Z",
    "finishedAt": "2026-11-20T09:30:00Z", "deadlineAt": "2026-11-20T09:32:00Z", "durationMs": 1200}]"""
    next_cursor: str | None


class PromptMessageResponse(ResponseModel):
    role: str
    """`system`, `user` or `assistant`. Example: system"""
    content: str
    """The text. Example: The customer wants a refund."""
    operation_id: str | None
    """The operation that has added it; null for what was said, and the system prompt. Example: summary"""


class TurnPromptResponse(ResponseModel):
    hash: str
    """SHA-256; equal for equal prompts. Example: 0f7f2f0f2a8dcd9a8e3f5b618b74e70c3ac2a4b3b2d0b1c4a0e2cf3f1f7f0a3e"""
    messages: list[PromptMessageResponse]
    """Messages as they were sent.

    Example: [{"role": "system", "content": "The customer wants a refund.", "operationId": "summary"}]
    """


class TurnEventResponse(ResponseModel):
    """Events are numbered from 1 without gaps: a reader drops what it has, and sorts by `seq`."""

    seq: int
    """Number of the event, from 1. Example: 2"""
    type: TurnEventType
    """Kind of event. Example: turn.phase_changed"""
    ts: Annotated[Time, read_from("at")]
    """Time of the event. Example: 2026-11-20T09:30:00Z"""
    turn_id: str
    """The turn. Example: turn_01k1f0aa"""
    chat_id: str
    """The chat of the turn. Example: chat_01k1f0aa"""
    branch_id: str
    """The branch of the turn. Example: br_01k1f0aa"""
    exchange_id: str
    """The exchange whose answer the turn makes. Example: ex_01k1f0aa"""
    user_message_id: str
    """The message that is answered. Example: ex_01k1f0aa.user"""
    trigger: Trigger
    """Answer to a new message, or another to the last one. Example: generate"""
    data: dict[str, Any]
    """Content of the event; its fields depend on `type`. Example: {"phase": "main_llm"}"""

    @classmethod
    def of(cls, chat_id: str, turn: ChatTurn, event: TurnEvent) -> "TurnEventResponse":
        return cls.from_value(turn.head, **event._asdict(), turn_id=turn.id, chat_id=chat_id)


class TurnTextResponse(ResponseModel):
    """Text of the main call while it is written. The offset says where it belongs; a higher attempt voids the text of
    lower ones."""

    attempt: int
    """Counts the attempts at the call that have written text. Example: 1"""
    offset: int
    """Characters of this attempt before it. Example: 18"""
    text: str
    """Piece of text. Example: within 30 days."""


class TurnEventList(ResponseModel):
    items: list[TurnEventResponse]
    """Example: [{"seq": 2, "type": "turn.phase_changed", "ts": "2026-11-20T09:30:00Z", "turnId": "turn_01k1f0aa",
    "chatId": "chat_01k1f0aa", "branchId": "br_01k1f0aa", "exchangeId": "ex_01k1f0aa", "userMessageId":
    "ex_01k1f0aa.user", "trigger": "generate", "data": {"phase": "main_llm"}}]"""
    text: Annotated[TurnTextResponse | None, read_from("delta")]
    """New text of the main call; null once the turn is over.

    Example: {"attempt": 1, "offset": 18, "text": "within 30 days."}
    """
    status: TurnStatus
    """Example: running"""
    phase: TurnPhase
    """Current phase of the turn. Example: main_llm"""

    @classmethod
    def of(cls, chat_id: str, turn: ChatTurn, feed: Feed) -> "TurnEventList":
        """While some text is left, the turn is not over for its reader."""
        return cls.from_value(
            feed,
            items=[TurnEventResponse.of(chat_id, turn, event) for event in (*feed.events, *feed.later)],
            status=turn.status if feed.is_all else TurnStatus.RUNNING,
            phase=turn.phase if feed.is_all else TurnPhase.MAIN_LLM,
        )


class BranchArtifactResponse(ResponseModel):
    """Title, format, usage and semantics are those of the operation when it wrote the value."""

    tag: str
    """Templates read the value as `art.<tag>.value`. Example: summary"""
    title: str | None
    """Name for people. Example: What was said so far"""
    value: Any
    """The newest value. Example: The customer wants a refund."""
    format: ArtifactFormat
    """`text`, `markdown` or `json`. Example: text"""
    usage: ArtifactUsage
    """Purpose: prompts, people, both, or operations alone (`internal`). Example: prompt+ui"""
    semantics: str | None
    """Hint for showing it; a word of the profile's author. Example: state"""
    version: int
    """How many values it had, with this one. Example: 2"""
    operation_id: str
    """The operation that has written the value. Example: summary"""
    turn_id: str
    """The turn that has written the value. Example: turn_01k1f0aa"""
    position: int
    """Position of that turn's exchange. Example: 1"""
    history: list[Any]
    """Earlier values, oldest first. Example: ["A customer writes."]"""
    updated_at: Annotated[Time, read_from("written_at")]
    """Start of the turn that wrote the value. Example: 2026-11-20T09:30:00Z"""

    @classmethod
    def of(cls, tag: str, artifact: StoredArtifact) -> "BranchArtifactResponse":
        return cls.from_value(artifact, tag=tag, **artifact.writer)


class BranchArtifactList(ResponseModel):
    items: list[BranchArtifactResponse]
    """Example: [{"tag": "summary", "title": "What was said so far", "value": "The customer wants a refund.", "format":
    "text", "usage": "prompt+ui", "semantics": "state", "version": 2, "operationId": "summary", "turnId":
    "turn_01k1f0aa", "position": 1, "history": ["A customer writes."], "updatedAt": "2026-11-20T09:30:00Z"}]"""


class BranchSessionResponse(ResponseModel):
    id: str
    """Another one after a reset: of the branch's session, or of the profile's. Example: 4be1a0f2c3d49e57"""
    profile_id: str
    """The profile whose operations have stored them. Example: prof_01"""
    session_id: Annotated[str, read_from("profile_session_id")]
    """Session of the profile. Example: 01k1f0aa"""
    created_at: Time | None
    """Start of the turn that stored its first artifact; null without one. Example: 2026-11-20T09:30:00Z"""
    tags: list[str]
    """Tags of the artifacts that later turns begin with. Example: ["summary"]"""
