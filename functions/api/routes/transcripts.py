"""Transcripts: the records of completed probes."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_page, bounded_record
from api.parameters import Cursor, ModelFilter, PromptFilter, ScenarioFilter, TranscriptLimit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.transcripts import TranscriptPage, TranscriptResponse
from cupel_core.domain.runs.transcripts import ResultKind, TranscriptFilter
from cupel_core.runs import queries

router = OperationRouter()


@router.operation("listTranscripts")
def list_transcripts(
    run_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    scenario_id: ScenarioFilter = None,
    result: Annotated[ResultKind | None, Query(description="Return only transcripts with this result")] = None,
    decision: Annotated[
        str | None,
        Query(min_length=1, max_length=100, description="Return only transcripts with this `decisionCode`"),
    ] = None,
    tag: Annotated[
        str | None,
        Query(min_length=1, max_length=200, description="Return only transcripts with a failed assertion of this tag"),
    ] = None,
    limit: TranscriptLimit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[TranscriptPage]:
    entries = queries.list_transcripts(
        router.workspace,
        run_id,
        model=model,
        prompt_id=prompt_id,
        scenario_id=scenario_id,
        wanted=TranscriptFilter(result, decision, tag),
        limit=limit,
        cursor=cursor,
        now=utc_now(),
    )
    return bounded_page(TranscriptPage, entries, limit, TranscriptResponse.of)


@router.operation("getTranscript")
def get_transcript(transcript_id: str) -> Rendered[TranscriptResponse]:
    return bounded_record(TranscriptResponse.of(queries.get_transcript(router.workspace, transcript_id, utc_now())))
