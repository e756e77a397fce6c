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
    content: Annotated[MessageText | None, Field(description="The user's message; with `generate` only")] = None
    branch_id: Annotated[Id | None, Field(description="The active branch if omitted")] = None
    profile_id: Annotated[
        Id | None, Field(description="Operation profile instead of the chat's; null for none in this turn")
    ] = None
    model: Annotated[
        ModelId | None,
        Field(
            description="Model or agent asked in this turn instead of the chat's. The chat's settings apply, except "
            "parameters that its provider does not know"
        ),
    ] = None
    client_request_id: Annotated[
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255, pattern=r"^[!-~]+$")] | None,
        Field(description="The same id and body start one turn within a day, however often they are sent"),
    ] = None
    deadline_ms: Annotated[
        int,
        Field(
            strict=True,
            ge=MIN_DEADLINE_MS,
            le=MAX_DEADLINE_MS,
            description="From now; a turn that is not over by then is aborted",
        ),
    ] = DEFAULT_DEADLINE_MS

    @model_validator(mode="after")
    def _has_content_to_answer(self) -> Self:
        require_exactly_with(self, "content", "the trigger generate", applies=self.trigger is Trigger.GENERATE)
        return self

    @property
    def has_profile(self) -> bool:
        return "profile_id" in self.model_fields_set


class TurnProfileResponse(ResponseModel):
    id: str
    version: int
    enabled: bool
    session_id: Annotated[str, Field(description="The profile's when the turn was accepted")]


class TurnFailureResponse(ResponseModel):
    operation_id: Annotated[str | None, Field(description="The required operation that was not done")]
    error_code: Annotated[str, Field(description="Kind of error; see docs/pipeline.md"), read_from("code")]
    error_message: Annotated[str, read_from("message")]


class TurnSummaryResponse(ResponseModel):
    id: str
    chat_id: str
    branch_id: Annotated[str, read_from("head.branch_id")]
    exchange_id: Annotated[str, read_from("head.exchange_id")]
    user_message_id: Annotated[str, read_from("head.user_message_id")]
    trigger: Annotated[Trigger, read_from("head.trigger")]
    initiator: Annotated[str, Field(description="The id of the token that asked for it"), read_from("head.initiator")]
    client_request_id: Annotated[str | None, read_from("head.client_request_id")]
    profile: Annotated[TurnProfileResponse | None, read_from("head.profile")]
    model: Annotated[str, read_from("head.settings.model")]
    status: TurnStatus
    phase: TurnPhase
    failed_type: FailedType | None
    failed_details: Annotated[TurnFailureResponse | None, read_from("failure")]
    abort_reason: AbortReason | None
    created_at: Annotated[Time, read_from("head.created_at")]
    started_at: Time | None
    finished_at: Time | None
    deadline_at: Annotated[Time, read_from("head.deadline_at")]
    duration_ms: Annotated[int | None, Field(description="From its acceptance to its end")]


class ArtifactVersionResponse(ResponseModel):
    tag: str
    version: int


class ArtifactDigestResponse(ResponseModel):
    tag: str
    bytes: int
    sha256: str


class TurnArtifactsResponse(ResponseModel):
    """The artifacts that a turn has written."""

    persisted: list[ArtifactVersionResponse]
    run_only: Annotated[list[ArtifactDigestResponse], Field(description="Those that last no longer than the turn")]


class TurnResponse(TurnSummaryResponse):
    left_out: Annotated[list[dict[str, Any]], Field(description="Operations that are not part of the turn, and why")]
    operations: Annotated[list[dict[str, Any]], Field(description="How each operation has ended; see docs/chats.md")]
    main: Annotated[dict[str, Any], Field(description="The main call; empty until the turn is over")]
    commits: Annotated[list[dict[str, Any]], Field(description="What became of each effect")]
    artifacts: Annotated[
        TurnArtifactsResponse | None, Field(description="What it has written; null until it is over with an answer")
    ]
    operations_spend: Annotated[SpendResponse | None, Field(description="Of all operations; null until it is over")]
    uncertain_usd: Annotated[
        float | None,
        Field(description="What calls that were not answered may have cost besides; null until it is over"),
    ]

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
    next_cursor: str | None


class PromptMessageResponse(ResponseModel):
    role: Annotated[str, Field(description="`system`, `user` or `assistant`")]
    content: str
    operation_id: Annotated[
        str | None,
        Field(description="The operation that has added it; null for what was said, and the system prompt"),
    ]


class TurnPromptResponse(ResponseModel):
    hash: Annotated[str, Field(description="SHA-256; equal for equal prompts")]
    messages: list[PromptMessageResponse]


class TurnEventResponse(ResponseModel):
    """Events are numbered from 1 without gaps: a reader drops what it has, and sorts by `seq`."""

    seq: int
    type: TurnEventType
    ts: Annotated[Time, read_from("at")]
    turn_id: str
    chat_id: str
    branch_id: str
    exchange_id: str
    user_message_id: str
    trigger: Trigger
    data: dict[str, Any]

    @classmethod
    def of(cls, chat_id: str, turn: ChatTurn, event: TurnEvent) -> "TurnEventResponse":
        return cls.from_value(turn.head, **event._asdict(), turn_id=turn.id, chat_id=chat_id)


class TurnTextResponse(ResponseModel):
    """Text of the main call while it is written. Applying one twice changes nothing: the offset says where it belongs,
    and a higher attempt voids the text of lower ones."""

    attempt: Annotated[int, Field(description="Counts the attempts at the call that have written text")]
    offset: Annotated[int, Field(description="Characters of this attempt before it")]
    text: Annotated[str, Field(description="What was written")]


class TurnEventList(ResponseModel):
    items: list[TurnEventResponse]
    text: Annotated[
        TurnTextResponse | None,
        Field(description="What the main call has written since; null once the turn is over"),
        read_from("delta"),
    ]
    status: TurnStatus
    phase: TurnPhase

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
    title: str | None
    value: Any
    format: ArtifactFormat
    usage: ArtifactUsage
    semantics: Annotated[str | None, Field(description="How it may be shown; a word of the profile's author")]
    version: Annotated[int, Field(description="How many values it had, with this one")]
    operation_id: Annotated[str, Field(description="The operation that has written the value")]
    turn_id: Annotated[str, Field(description="The turn that has written the value")]
    position: Annotated[int, Field(description="Of that turn's exchange")]
    history: Annotated[list[Any], Field(description="Earlier values, oldest first")]
    updated_at: Annotated[
        Time, Field(description="When the turn began that has written the value"), read_from("written_at")
    ]

    @classmethod
    def of(cls, tag: str, artifact: StoredArtifact) -> "BranchArtifactResponse":
        return cls.from_value(artifact, tag=tag, **artifact.writer)


class BranchArtifactList(ResponseModel):
    items: list[BranchArtifactResponse]


class BranchSessionResponse(ResponseModel):
    id: Annotated[str, Field(description="Another one after a reset: of the branch's session, or of the profile's")]
    profile_id: str
    session_id: Annotated[str, Field(description="That of the profile"), read_from("profile_session_id")]
    created_at: Annotated[
        Time | None, Field(description="When the turn began that stored its first artifact; null without one")
    ]
    tags: Annotated[list[str], Field(description="Of the artifacts that later turns begin with")]
