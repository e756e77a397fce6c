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
from cupel_core.contract.runs import CaseFields
from cupel_core.contract.unscored import UnscoredCauseResponse
from cupel_core.domain.conversations.conversation import StopReason
from cupel_core.domain.conversations.model_request import RequestParameter
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.runs.views import TranscriptView


class TranscriptContentResponse(ResponseModel):
    messages: Annotated[list[MessageResponse], Field(description=MESSAGES_DESCRIPTION)]
    simulated_user_prompt: SimulatedUserPrompt
    turns: Annotated[
        list[dict[str, Any]],
        Field(description="With an operation profile: what ran in each turn, and what it changed"),
    ]
    artifacts: Annotated[
        dict[str, Any], Field(description="Values of the persisted artifacts after the last turn, by their tags")
    ]


class TranscriptResponse(CaseFields, ColumnFields):
    id: str
    run_id: str
    probe_index: int
    model_version: Annotated[str | None, Field(description="The model's version, as the provider reports it")]
    finish_reason: str | None
    stop_reason: Annotated[
        StopReason | None,
        Field(description="Why an answer ended although its model would have gone on; null if none did"),
    ]
    omitted_parameters: Annotated[
        list[RequestParameter],
        Field(description="What requests to the target left out because it rejects it; see docs/architecture.md"),
    ]
    definition_snapshot: dict[str, Any] | None
    content: Annotated[TranscriptContentResponse | None, Field(description="Null once it has expired")]
    turn_count: int
    tool_rounds: Annotated[int, Field(description="Replies of the target whose calls of tools were executed")]
    word_count: Annotated[int, Field(description="Words of the target's answers")]
    token_count: int
    usage: TokenUsageResponse
    judge_spend: Annotated[SpendResponse, Field(description="Spent on judging; not included in `usage` and `costUsd`")]
    persona_spend: Annotated[
        SpendResponse, Field(description="Spent on simulating the user; not included in `usage` and `costUsd`")
    ]
    summary_spend: Annotated[
        SpendResponse, Field(description="Spent on the judge's decision; not included in `usage` and `costUsd`")
    ]
    operation_spend: Annotated[
        SpendResponse, Field(description="Spent on operations of the profile; not included in `usage` and `costUsd`")
    ]
    total_spend: Annotated[
        SpendResponse, Field(description="Target, judge, simulated user, summary and operations together")
    ]
    costs: RoleCosts
    duration_ms: Annotated[int, Field(description="Time spent in calls of the target")]
    cost_usd: CostUsd
    decision_code: str | None
    decision_text: str | None
    summarized_at: Time | None
    summary_error: Annotated[str | None, Field(description="Why the judge made no decision")]
    summary_cause: Annotated[
        UnscoredCauseResponse | None,
        Field(description="The cause of `summaryError`; null without one"),
    ]
    verdict: Annotated[VerdictResponse | None, Field(description="The judge's last verdict on the criteria")]
    scoring: Annotated[ScoringResponse | None, Field(description="Result of the criteria and assertions")]
    result: Annotated[
        ProbeResultResponse | None, Field(description="Null if nothing was judged, or judging was not possible")
    ]
    corrected: Annotated[bool, Field(description="Whether the result was corrected by a person")]
    created_at: Time
    last_accessed_at: Time | None
    content_expires_at: Time | None

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
