"""What is kept of a finished probe: a transcript, or why there is none."""

from dataclasses import dataclass
from datetime import datetime

from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.domain.turns.model_request import ErrorCode, Message


@dataclass(frozen=True)
class Summary:
    """Decision code `1`-`5` or `other`, and a sentence or two; `error` when the judge gave none."""

    decision_code: str
    decision_text: str
    summarized_at: datetime
    error: str | None = None


@dataclass(frozen=True)
class Result:
    """Whether the answer was right, where the definition can tell."""

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
    dialogue: Dialogue
    persona_id: str | None = None
    generation: int = 1
    """Of the run, when the probe was held."""
    summary: Summary | None = None
    scoring: Scoring | None = None
    correction: Result | None = None
    """What a person said instead."""
    content_expires_at: datetime | None = None
    last_accessed_at: datetime | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.dialogue.messages

    @property
    def result(self) -> Result | None:
        """None where nothing was to be judged, and where it could not be."""
        scoring = self.scoring
        if self.correction is not None or scoring is None or scoring.success is None:
            return self.correction
        return Result(scoring.success, scoring.score, scoring.reason)


@dataclass(frozen=True)
class ProbeError:
    """An errored probe: an infrastructure failure, never scored against the model."""

    probe_index: int
    scenario_id: str
    model_id: str
    code: ErrorCode
    message: str
    attempts: int
    created_at: datetime
    persona_id: str | None = None
    generation: int = 1


type Outcome = Transcript | ProbeError
