"""Transcripts: the records of completed probes."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, Time
from cupel_core.contract.results import (
    MESSAGES_DESCRIPTION,
    CostUsd,
    MessageResponse,
    ProbeResultResponse,
    RoleCosts,
    ScoringResponse,
    SimulatedUserPrompt,
    SpendResponse,
    TokenUsageResponse,
    VerdictResponse,
)
from cupel_core.contract.run_probes import CaseFields
from cupel_core.contract.unscored import UnscoredCauseResponse
from cupel_core.domain.conversations.conversation import StopReason
from cupel_core.domain.conversations.model_request import RequestParameter
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.runs.views import TranscriptView


class TranscriptContentResponse(ResponseModel):
    messages: Annotated[list[MessageResponse], Field(description=MESSAGES_DESCRIPTION)]
    """Example: [{"role": "user", "content": "I want my money back."}, {"role": "assistant", "content": "You can return
    it within 30 days."}]"""
    simulated_user_prompt: SimulatedUserPrompt
    """Example: You are an impatient customer."""
    turns: list[dict[str, Any]]
    """Operations and changes of each turn with an operation profile.

    Example: [{"number": 1, "trigger": "generate", "profileVersion": 2, "operations": [{"operationId": "tone", "name":
    "Tone", "status": "done", "value": "Be polite."}], "commits": [{"hook": "before_main_llm", "operationId": "tone",
    "effectIndex": 0, "status": "applied"}]}]
    """
    artifacts: dict[str, Any]
    """Values of the persisted artifacts after the last turn, by their tags.

    Example: {"summary": "The customer wants a refund."}
    """


class TranscriptResponse(CaseFields, ColumnFields):
    id: str
    """Example: run_01k1f0aa-7"""
    run_id: str
    probe_index: int
    """Index of the probe in its run, from 0; never changes."""
    retry_round: int
    """Retry round in which the conversation was held, from 1; labels name that of theirs. Example: 1"""
    model_version: str | None
    """The model's version, as the provider reports it. Example: gpt-6.1-terra"""
    finish_reason: str | None
    """Why the model stopped, as the provider reports it. Example: stop"""
    stop_reason: StopReason | None
    """Reason why an answer ended although its model would have gone on; null if none did."""
    omitted_parameters: list[RequestParameter]
    """Parameters left out because the target rejects them; see docs/architecture.md."""
    definition_snapshot: dict[str, Any] | None
    """Content of the definition as it was when the run started; null once the run is erased.

    Example: {"system": "You are a support agent of an online shop."}
    """
    content: TranscriptContentResponse | None
    """Null once it has expired."""
    turn_count: int
    """Number of turns of the conversation. Example: 1"""
    tool_rounds: int
    """Replies of the target whose calls of tools were executed. Example: 1"""
    word_count: int
    """Words of the target's answers. Example: 8"""
    token_count: int
    """Input and output tokens together. Example: 508"""
    usage: TokenUsageResponse
    judge_spend: SpendResponse
    """Spent on judging; not included in `usage` and `costUsd`."""
    persona_spend: SpendResponse
    """Spent on simulating the user; not included in `usage` and `costUsd`."""
    summary_spend: SpendResponse
    """Spent on the judge's decision; not included in `usage` and `costUsd`."""
    operation_spend: SpendResponse
    """Spent on operations of the profile; not included in `usage` and `costUsd`."""
    total_spend: SpendResponse
    """Target, judge, simulated user, summary and operations together."""
    costs: RoleCosts
    duration_ms: int
    """Time spent in calls of the target."""
    cost_usd: CostUsd
    decision_code: str | None
    """Decision that was read from the transcript, `1` to `5` or `other`. Example: "4" """
    decision_text: str | None
    """Why the decision was made, in one or two sentences. Example: Grants the refund, with a condition."""
    summarized_at: Time | None
    """Time of the decision; null before. Example: 2026-11-20T09:34:08Z"""
    summary_error: str | None
    """Reason why the judge made no decision. Example: the judge's reply was unusable"""
    summary_cause: UnscoredCauseResponse | None
    """The cause of `summaryError`; null without one."""
    verdict: VerdictResponse | None
    """The judge's last verdict on the criteria."""
    scoring: ScoringResponse | None
    """Result of the criteria and assertions."""
    result: ProbeResultResponse | None
    """Null if nothing was judged, or judging was not possible."""
    corrected: bool
    """True if the result was corrected by a person. Example: false"""
    created_at: Time
    last_accessed_at: Time | None
    """Time of the last read; null if never. Example: 2026-11-20T10:00:00Z"""
    content_expires_at: Time | None
    """Expiry of the content; null for never. Example: 2027-11-20T09:34:10Z"""

    @classmethod
    def of(cls, view: TranscriptView) -> "TranscriptResponse":
        transcript, summary, conversation = view.transcript, view.transcript.summary, view.transcript.conversation
        spending = transcript.spending
        # The ids are stored with the transcript; the run's snapshot may be gone.
        ids = {"scenario_id": transcript.scenario_id, "persona_id": transcript.persona_id}
        return cls.from_value(
            conversation,
            **(vars(view.case) | ids),
            **cls.fields_of_column(view.column),
            repeat=view.repeat,
            id=view.id,
            run_id=view.run_id,
            probe_index=transcript.probe_index,
            retry_round=transcript.retry_round,
            definition_snapshot=view.definition_snapshot,
            content=_content(transcript) if view.content_available else None,
            turn_count=conversation.turns,
            word_count=transcript.word_count,
            token_count=conversation.usage.total,
            summary_spend=spending.summary,
            operation_spend=spending.operation,
            total_spend=spending.total,
            costs=spending.by_role,
            decision_code=summary.decision_code if summary else None,
            decision_text=summary.decision_text if summary else None,
            summarized_at=summary.summarized_at if summary else None,
            summary_error=summary.error if summary else None,
            summary_cause=summary.cause if summary else None,
            scoring=transcript.scoring,
            result=transcript.result,
            corrected=transcript.correction is not None,
            created_at=transcript.created_at,
            last_accessed_at=transcript.last_accessed_at,
            content_expires_at=transcript.content_expires_at,
        )


class TranscriptPage(ResponseModel):
    items: list[TranscriptResponse]
    next_cursor: str | None


def _content(transcript: Transcript) -> TranscriptContentResponse:
    pipeline = transcript.conversation.pipeline
    return TranscriptContentResponse(
        messages=MessageResponse.list_of(transcript.conversation),
        simulated_user_prompt=transcript.conversation.simulated_user_prompt,
        turns=[dict(record) for record in pipeline.records] if pipeline else [],
        artifacts={tag: each.value for tag, each in pipeline.artifacts.items()} if pipeline else {},
    )
