"""Turns of chats: what is fixed when one is accepted, where it stands, and how it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.domain.pipeline.operations import Trigger

CLAIM = timedelta(seconds=20)
"""How long a worker has a turn, unless it renews its claim."""
MIN_DEADLINE_MS = 1_000
MAX_DEADLINE_MS = 240_000
DEFAULT_DEADLINE_MS = 120_000
MAX_ERROR_LENGTH = 500


class TurnStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    ABORTED = "aborted"

    @property
    def is_over(self) -> bool:
        return self in (TurnStatus.DONE, TurnStatus.FAILED, TurnStatus.ABORTED)


class TurnPhase(StrEnum):
    PLANNING = "planning"
    BEFORE_MAIN_LLM = "before_main_llm"
    BARRIER = "barrier"
    MAIN_LLM = "main_llm"
    AFTER_MAIN_LLM = "after_main_llm"
    COMMIT = "commit"
    FINISHED = "finished"


class AbortReason(StrEnum):
    USER = "user"
    DEADLINE = "deadline"


class FailedType(StrEnum):
    """Where a turn failed."""

    BEFORE_BARRIER = "before_barrier"
    MAIN_LLM = "main_llm"
    AFTER_MAIN_LLM = "after_main_llm"


class FinishReason(StrEnum):
    """How a main call ended."""

    COMPLETED = "completed"
    USER_ABORT = "user_abort"
    DEADLINE = "deadline"
    PROVIDER_ERROR = "provider_error"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    POLICY_ERROR = "policy_error"


class TurnEventType(StrEnum):
    STARTED = "turn.started"
    PHASE_CHANGED = "turn.phase_changed"
    OPERATION_STARTED = "operation.started"
    OPERATION_FINISHED = "operation.finished"
    MAIN_STARTED = "main_llm.started"
    MAIN_FINISHED = "main_llm.finished"
    COMMIT_FINISHED = "commit.finished"
    FINISHED = "turn.finished"


class TurnFailure(NamedTuple):
    type: FailedType
    code: str
    message: str
    operation_id: str | None = None

    @classmethod
    def of(cls, kind: FailedType, code: str, message: str, operation_id: str | None = None) -> Self:
        return cls(kind, code, message[:MAX_ERROR_LENGTH], operation_id)


class TurnProfile(NamedTuple):
    """The version of a profile that a turn runs."""

    id: str
    version: int
    enabled: bool
    session_id: str = ""


@dataclass(frozen=True)
class TurnHead:
    """What is fixed when a turn is accepted: whoever continues it sees the same."""

    id: str
    branch_id: str
    exchange_id: str
    position: int
    trigger: Trigger
    initiator: str
    """The id of the token that asked for it."""
    settings: ChatSettings
    user_variant: int
    """That the turn begins with: what the person wrote, if its operations may rewrite it."""
    answer_variant: int
    """The number that its answer will have."""
    created_at: datetime
    deadline_at: datetime
    profile: TurnProfile | None = None
    session: str = ""
    """The name of the profile session, whose artifacts it reads and writes."""
    client_request_id: str | None = None

    @property
    def user_message_id(self) -> str:
        return f"{self.exchange_id}.user"

    @property
    def answer_id(self) -> str:
        """The id of the variant that its answer will be."""
        return f"{self.exchange_id}.answer.{self.answer_variant}"


@dataclass(frozen=True)
class ChatTurn:
    """A turn as it stands."""

    head: TurnHead
    status: TurnStatus = TurnStatus.QUEUED
    phase: TurnPhase = TurnPhase.PLANNING
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failure: TurnFailure | None = None
    abort_reason: AbortReason | None = None
    abort_requested_at: datetime | None = None
    claimed_until: datetime | None = None
    """Until when a worker has it; None before the first."""
    last_seq: int = 0
    """Of its events, which are numbered from 1."""
    attempts: int = 0
    """How many workers have taken it."""
    result: Mapping[str, Any] | None = None
    """What it ran, once it is over."""

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def failed_type(self) -> FailedType | None:
        return self.failure.type if self.failure else None

    @property
    def duration_ms(self) -> int | None:
        """Return the time from its acceptance to its end; None until it has ended."""
        if self.finished_at is None:
            return None
        return round((self.finished_at - self.head.created_at).total_seconds() * 1000)

    def is_claimed(self, now: datetime) -> bool:
        return self.claimed_until is not None and self.claimed_until > now

    def ended(
        self,
        now: datetime,
        result: Mapping[str, Any],
        *,
        failure: TurnFailure | None = None,
        abort_reason: AbortReason | None = None,
    ) -> Self:
        failed = TurnStatus.FAILED if failure else TurnStatus.DONE
        return replace(
            self,
            status=TurnStatus.ABORTED if abort_reason else failed,
            phase=TurnPhase.FINISHED,
            finished_at=now,
            failure=None if abort_reason else failure,
            abort_reason=abort_reason,
            result=result,
        )


class TurnPrompt(NamedTuple):
    """What the model of a turn got."""

    hash: str
    messages: Sequence[Mapping[str, Any]]
    """`{role, content, operationId}`."""


class TurnEvent(NamedTuple):
    seq: int
    type: TurnEventType
    at: datetime
    data: Mapping[str, Any]
