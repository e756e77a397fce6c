"""Describes the outcome of a finished probe: a transcript, or why there is none.

Its content is everything that was said, and every text that may quote it: reasons of judges, decision texts, messages
of errors. Content can be deleted and expires; decisions, usage, costs and scores remain.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Self

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, ProbeErrorCode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.spending import Spending, conversation_spending
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.unscored import UnscoredCause

CONTENT_DELETED = "the text was deleted, or its retention period has ended"
"""Replaces the text of an error that is no longer stored."""


@dataclass(frozen=True)
class Summary:
    """Contains a decision code `1`-`5` or `other` and one or two sentences; `error` if the judge gave no decision or
    text."""

    decision_code: str
    decision_text: str
    summarized_at: datetime
    error: str | None = None
    spend: Spend = field(default_factory=Spend)
    is_provisional: bool = False
    """The text is an excerpt that a judge's summary will replace when the run finishes."""
    cause: UnscoredCause | None = None
    """The code of `error`."""

    def without_content(self) -> "Summary":
        return replace(self, decision_text="", error=self.error and CONTENT_DELETED)


@dataclass(frozen=True)
class TranscriptResult:
    """States whether a completed probe succeeded, as judged by its criteria and assertions or by a user."""

    success: bool
    score: float | None = None
    reason: str | None = None

    def without_content(self) -> "TranscriptResult":
        return replace(self, reason=None)


@dataclass(frozen=True)
class Transcript:
    probe_index: int
    scenario_id: str
    model_id: str
    created_at: datetime
    conversation: ConversationState
    persona_id: str | None = None
    retry_round: int = 1
    summary: Summary | None = None
    scoring: Scoring | None = None
    correction: TranscriptResult | None = None
    """A user's result, which replaces the computed one."""
    content_expires_at: datetime | None = None
    last_accessed_at: datetime | None = None
    stored_word_count: int = 0
    """The word count at the time of storing, for a transcript whose messages were deleted later."""

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.conversation.messages

    @property
    def word_count(self) -> int:
        return self.conversation.answer_word_count if self.messages else self.stored_word_count

    @property
    def is_summarized(self) -> bool:
        return self.summary is not None and not self.summary.is_provisional

    @property
    def spending(self) -> Spending:
        spending = conversation_spending(self.conversation)
        return replace(spending, summary=self.summary.spend) if self.summary else spending

    @property
    def result(self) -> TranscriptResult | None:
        """Return None if nothing was judged, or if the result could not be computed."""
        scoring = self.scoring
        if self.correction is not None or scoring is None or scoring.success is None:
            return self.correction
        return TranscriptResult(scoring.success, scoring.score, scoring.reason or None)

    def without_content(self) -> Self:
        """Return the decision code, usage, cost and result, without anything that was said or that may quote it."""
        return replace(
            self,
            conversation=_without_content(self.conversation),
            scoring=self.scoring and self.scoring.without_content(),
            summary=self.summary and self.summary.without_content(),
            correction=self.correction and self.correction.without_content(),
        )


def _without_content(state: ConversationState) -> ConversationState:
    pipeline = state.pipeline and state.pipeline.without_content()
    erased = replace(
        state, messages=(), replies=(), output=None, verdict=None, unjudged=None, simulated_user_prompt=None
    )
    return replace(erased, pipeline=pipeline)


@dataclass(frozen=True)
class ProbeError:
    """Describes an errored probe, which is an infrastructure failure and never scored against the model."""

    probe_index: int
    scenario_id: str
    model_id: str
    code: ProbeErrorCode
    message: str
    attempts: int
    created_at: datetime
    persona_id: str | None = None
    retry_round: int = 1
    content_expires_at: datetime | None = None
    spending: Spending = field(default_factory=Spending)
    """The calls were answered before the error."""
    started_at: datetime | None = field(default=None, compare=False)
    """The conversation started at this time; None if it did not, or if that is not known."""
    cause: UnscoredCause | None = field(default=None, compare=False)
    """A judge gave no verdict, for this cause, and the conversation could not continue; it is not stored."""

    def without_content(self) -> Self:
        return replace(self, message=CONTENT_DELETED)


type Outcome = Transcript | ProbeError


class ResultKind(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"

    @classmethod
    def of(cls, result: TranscriptResult | None) -> "ResultKind":
        if result is None:
            return cls.UNSCORED
        return cls.PASSED if result.success else cls.FAILED


@dataclass(frozen=True)
class TranscriptFilter:
    """Selects transcripts by what they have in common; None matches everything."""

    result: ResultKind | None = None
    decision: str | None = None
    tag: str | None = None

    @property
    def is_set(self) -> bool:
        return self != ALL_TRANSCRIPTS

    def matches(self, transcript: Transcript) -> bool:
        decision = transcript.summary.decision_code if transcript.summary else None
        tags = transcript.scoring.tags if transcript.scoring else ()
        return (
            self.result in (None, ResultKind.of(transcript.result))
            and self.decision in (None, decision)
            and (self.tag is None or self.tag in tags)
        )

    def transcripts(self, outcomes: Iterable[Outcome]) -> Iterator[Transcript]:
        return (each for each in outcomes if isinstance(each, Transcript) and self.matches(each))


ALL_TRANSCRIPTS = TranscriptFilter()


def readable_at[T: (Transcript, ProbeError, Outcome)](outcome: T, now: datetime) -> T:
    """Return the outcome as it may be read at `now`: without expired content, even while it is stored."""
    expires = outcome.content_expires_at
    return outcome.without_content() if expires is not None and expires <= now else outcome


_MAX_REASON_LENGTH = 300


def unstorable(outcome: Outcome, reason: str) -> ProbeError:
    """Return the error of a probe whose outcome cannot be stored; it has no text of the provider."""
    return ProbeError(
        probe_index=outcome.probe_index,
        scenario_id=outcome.scenario_id,
        model_id=outcome.model_id,
        code=ProbeErrorCode.INTERNAL,
        message=f"the outcome could not be stored: {reason[:_MAX_REASON_LENGTH]}",
        attempts=1,
        created_at=outcome.created_at,
        persona_id=outcome.persona_id,
        retry_round=outcome.retry_round,
        content_expires_at=outcome.content_expires_at,
        spending=outcome.spending,
    )
