"""What is kept of a finished probe: a transcript, or why there is none."""

from dataclasses import dataclass
from datetime import datetime

from shared.domain.conversation import ErrorCode, Message, Usage


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
    """A completed probe. `duration_ms` is spent in model calls; `cost_usd` is None where no price is known."""

    probe_index: int
    scenario_id: str
    model_id: str
    model_version: str | None
    messages: tuple[Message, ...]
    turn_count: int
    usage: Usage
    duration_ms: int
    cost_usd: float | None
    created_at: datetime
    summary: Summary | None = None
    result: Result | None = None
    content_expires_at: datetime | None = None
    last_accessed_at: datetime | None = None


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


type Outcome = Transcript | ProbeError
