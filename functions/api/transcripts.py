"""Transcripts: the records of finished probes."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field

from api.caller import caller
from api.shapes import Answer, Cursor, Limit, Time
from shared.clock import utc_now
from shared.domain.conversation import Role
from shared.paging import DEFAULT_LIMIT
from shared.runs import reading
from shared.runs.reading import TranscriptView

router = APIGatewayHttpRouter()


class MessageAnswer(Answer):
    role: Role
    content: str


class ContentAnswer(Answer):
    messages: list[MessageAnswer]


class UsageAnswer(Answer):
    input_tokens: int
    output_tokens: int


class ResultAnswer(Answer):
    success: bool
    score: float | None
    reason: str | None


class TranscriptAnswer(Answer):
    id: str
    run_id: str
    probe_index: int
    scenario_id: str
    model_id: str
    model_version: str | None
    definition_snapshot: dict[str, Any] | None
    content: Annotated[ContentAnswer | None, Field(description="Null once it has expired")]
    turn_count: int
    token_count: int
    usage: UsageAnswer
    duration_ms: int
    cost_usd: Annotated[float | None, Field(description="Null for a model without a known price")]
    decision_code: str | None
    decision_text: str | None
    summarized_at: Time | None
    summary_error: Annotated[str | None, Field(description="Why the judge gave no decision")]
    result: ResultAnswer | None
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
    page = reading.transcripts(
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
    return _answer(reading.transcript(caller(router.current_event).workspace, transcript_id, utc_now()))


def _answer(view: TranscriptView) -> TranscriptAnswer:
    kept, summary = view.transcript, view.transcript.summary
    return TranscriptAnswer(
        id=view.id,
        run_id=view.run_id,
        probe_index=kept.probe_index,
        scenario_id=kept.scenario_id,
        model_id=kept.model_id,
        model_version=kept.model_version,
        definition_snapshot=view.definition_snapshot,
        content=_content(view),
        turn_count=kept.turn_count,
        token_count=kept.usage.total,
        usage=UsageAnswer(input_tokens=kept.usage.input_tokens, output_tokens=kept.usage.output_tokens),
        duration_ms=kept.duration_ms,
        cost_usd=kept.cost_usd,
        decision_code=summary.decision_code if summary else None,
        decision_text=summary.decision_text if summary else None,
        summarized_at=summary.summarized_at if summary else None,
        summary_error=summary.error if summary else None,
        result=ResultAnswer(**vars(kept.result)) if kept.result else None,
        created_at=kept.created_at,
        last_accessed_at=kept.last_accessed_at,
        content_expires_at=kept.content_expires_at,
    )


def _content(view: TranscriptView) -> ContentAnswer | None:
    if not view.content_available:
        return None
    messages = [MessageAnswer(role=message.role, content=message.content) for message in view.transcript.messages]
    return ContentAnswer(messages=messages)
