"""Transcripts: the records of finished probes."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Answer, Cursor, Limit, Time
from cupel_core.contract.results import ResultAnswer, ScoringAnswer, SpendAnswer, UsageAnswer, VerdictAnswer
from cupel_core.domain.turns.model_request import Role
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.runs import queries
from cupel_core.runs.queries import TranscriptView

router = APIGatewayHttpRouter()


class MessageAnswer(Answer):
    role: Role
    content: str


class ContentAnswer(Answer):
    messages: list[MessageAnswer]


class TranscriptAnswer(Answer):
    id: str
    run_id: str
    probe_index: int
    scenario_id: str
    model_id: str
    model_version: str | None
    persona_id: str | None
    finish_reason: str | None
    definition_snapshot: dict[str, Any] | None
    content: Annotated[ContentAnswer | None, Field(description="Null once it has expired")]
    turn_count: int
    token_count: int
    usage: UsageAnswer
    judge: Annotated[SpendAnswer, Field(description="What judging this has used; no part of usage and costUsd")]
    persona: Annotated[SpendAnswer, Field(description="What playing its user has used")]
    duration_ms: int
    cost_usd: Annotated[float | None, Field(description="Null for a model without a known price")]
    decision_code: str | None
    decision_text: str | None
    summarized_at: Time | None
    summary_error: Annotated[str | None, Field(description="Why the judge gave no decision")]
    verdict: Annotated[VerdictAnswer | None, Field(description="The judge's last, by the criteria")]
    scoring: Annotated[ScoringAnswer | None, Field(description="By criteria and assertions")]
    result: Annotated[ResultAnswer | None, Field(description="Null where nothing was judged or it could not be")]
    corrected: Annotated[bool, Field(description="Whether a person gave the result")]
    created_at: Time
    last_accessed_at: Time | None
    content_expires_at: Time | None


class TranscriptList(Answer):
    items: list[TranscriptAnswer]
    next_cursor: str | None


@router.get("/runs/<run_id>/transcripts", summary="List the transcripts of a run", tags=["transcripts"])
def listed(
    run_id: str,
    model: str | None = None,
    scenario_id: Annotated[str | None, Query(alias="scenarioId")] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> TranscriptList:
    page = queries.transcripts(
        caller(router.current_event).workspace,
        run_id,
        model=model,
        scenario_id=scenario_id,
        limit=limit,
        cursor=cursor,
        now=utc_now(),
    )
    return TranscriptList(items=[_answer(view) for view in page.items], next_cursor=page.next_cursor)


@router.get("/transcripts/<transcript_id>", summary="Read a transcript", tags=["transcripts"])
def get(transcript_id: str) -> TranscriptAnswer:
    return _answer(queries.transcript(caller(router.current_event).workspace, transcript_id, utc_now()))


def _answer(view: TranscriptView) -> TranscriptAnswer:
    kept, summary, dialogue = view.transcript, view.transcript.summary, view.transcript.dialogue
    return TranscriptAnswer(
        id=view.id,
        run_id=view.run_id,
        probe_index=kept.probe_index,
        scenario_id=kept.scenario_id,
        model_id=kept.model_id,
        model_version=dialogue.model_version,
        persona_id=kept.persona_id,
        finish_reason=dialogue.finish_reason,
        definition_snapshot=view.definition_snapshot,
        content=_content(view),
        turn_count=dialogue.turns,
        token_count=dialogue.usage.total,
        usage=UsageAnswer(input_tokens=dialogue.usage.input_tokens, output_tokens=dialogue.usage.output_tokens),
        judge=SpendAnswer.of(dialogue.judge),
        persona=SpendAnswer.of(dialogue.persona),
        duration_ms=dialogue.duration_ms,
        cost_usd=dialogue.cost_usd,
        decision_code=summary.decision_code if summary else None,
        decision_text=summary.decision_text if summary else None,
        summarized_at=summary.summarized_at if summary else None,
        summary_error=summary.error if summary else None,
        verdict=VerdictAnswer.of(dialogue.verdict) if dialogue.verdict else None,
        scoring=ScoringAnswer.of(kept.scoring) if kept.scoring else None,
        result=ResultAnswer.of(kept.result),
        corrected=kept.correction is not None,
        created_at=kept.created_at,
        last_accessed_at=kept.last_accessed_at,
        content_expires_at=kept.content_expires_at,
    )


def _content(view: TranscriptView) -> ContentAnswer | None:
    if not view.content_available:
        return None
    messages = [MessageAnswer(role=message.role, content=message.content) for message in view.transcript.messages]
    return ContentAnswer(messages=messages)
