"""The outcome of a finished probe: a transcript, or why there is none."""

from dataclasses import dataclass
from datetime import datetime

from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import ConversationState
from cupel_core.domain.turns.model_request import Message, ProbeErrorCode


@dataclass(frozen=True)
class Summary:
    """Decision code `1`-`5` or `other` and one or two sentences; `error` if the judge returned no decision."""

    decision_code: str
    decision_text: str
    summarized_at: datetime
    error: str | None = None


@dataclass(frozen=True)
class TranscriptResult:
    """Whether a completed probe succeeded, as judged by its criteria and assertions or by a user."""

    success: bool
    score: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Transcript:
    """A completed probe."""

    probe_index: int
    scenario_id: str
    model_id: str
    created_at: datetime
    conversation: ConversationState
    persona_id: str | None = None
    retry_round: int = 1
    """The run's retry round in which the conversation took place."""
    summary: Summary | None = None
    scoring: Scoring | None = None
    correction: TranscriptResult | None = None
    """A user's result, which replaces the computed one."""
    content_expires_at: datetime | None = None
    last_accessed_at: datetime | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.conversation.messages

    @property
    def result(self) -> TranscriptResult | None:
        """None if nothing was to be judged, or if it could not be computed."""
        scoring = self.scoring
        if self.correction is not None or scoring is None or scoring.success is None:
            return self.correction
        return TranscriptResult(scoring.success, scoring.score, scoring.reason)


@dataclass(frozen=True)
class ProbeError:
    """An errored probe: an infrastructure failure, never scored against the model."""

    probe_index: int
    scenario_id: str
    model_id: str
    code: ProbeErrorCode
    message: str
    attempts: int
    created_at: datetime
    persona_id: str | None = None
    retry_round: int = 1


type Outcome = Transcript | ProbeError
