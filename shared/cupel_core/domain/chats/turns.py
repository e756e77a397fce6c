from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.domain.pipeline.operations import Trigger

CLAIM = timedelta(seconds=20)
"""A worker's claim of a turn ends after this time unless it is renewed."""
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
    """The part of a turn that failed."""

    BEFORE_BARRIER = "before_barrier"
    MAIN_LLM = "main_llm"
    AFTER_MAIN_LLM = "after_main_llm"


class FinishReason(StrEnum):
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
    id: str
    version: int
    enabled: bool
    session_id: str = ""


@dataclass(frozen=True)
class TurnHead:
    """Contains what is fixed when a turn is accepted, so that any worker that continues it sees the same."""

    id: str
    branch_id: str
    exchange_id: str
    position: int
    trigger: Trigger
    initiator: str
    settings: ChatSettings
    user_variant: int
    """The turn begins with this variant, the person's own text if its operations may rewrite it."""
    answer_variant: int
    created_at: datetime
    deadline_at: datetime
    profile: TurnProfile | None = None
    session: str = ""
    client_request_id: str | None = None

    @property
    def user_message_id(self) -> str:
        return f"{self.exchange_id}.user"

    @property
    def answer_id(self) -> str:
        return f"{self.exchange_id}.answer.{self.answer_variant}"


@dataclass(frozen=True)
class ChatTurn:
    head: TurnHead
    status: TurnStatus = TurnStatus.QUEUED
    phase: TurnPhase = TurnPhase.PLANNING
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failure: TurnFailure | None = None
    abort_reason: AbortReason | None = None
    abort_requested_at: datetime | None = None
    claimed_until: datetime | None = None
    """A worker has claimed the turn until then; None before the first claim."""
    last_seq: int = 0
    """The number of the last event; events are numbered from 1."""
    attempts: int = 0
    result: Mapping[str, Any] | None = None
    """Describes what the turn ran, and is set when the turn is over."""

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
    hash: str
    messages: Sequence[Mapping[str, Any]]
    """Messages have the fields `{role, content, operationId}`."""


class TurnEvent(NamedTuple):
    seq: int
    type: TurnEventType
    at: datetime
    data: Mapping[str, Any]
