from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.operation import (
    VIEWER,
    Call,
    Listed,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    ModelFilter,
    Parameter,
    PromptFilter,
    ScenarioFilter,
    TranscriptLimit,
)
from cupel_core.contract.transcripts import TranscriptPage, TranscriptResponse
from cupel_core.domain.runs.transcripts import ResultKind, TranscriptFilter
from cupel_core.runs import queries


@operation(
    "GET /v1/runs/{run_id}/transcripts",
    "List the transcripts of a run",
    role=VIEWER,
    returns="A page of transcripts, by probe index",
    tag="transcripts",
)
def list_transcripts(
    call: Call,
    run_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    scenario_id: ScenarioFilter = None,
    result: Annotated[ResultKind | None, Parameter(description="Return only transcripts with this result")] = None,
    decision: Annotated[
        str | None,
        Parameter(min_length=1, max_length=100, description="Return only transcripts with this `decisionCode`"),
    ] = None,
    tag: Annotated[
        str | None,
        Parameter(
            min_length=1, max_length=200, description="Return only transcripts with a failed assertion of this tag"
        ),
    ] = None,
    limit: TranscriptLimit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[TranscriptPage]:
    entries = queries.list_transcripts(
        call.workspace,
        run_id,
        model=model,
        prompt_id=prompt_id,
        scenario_id=scenario_id,
        wanted=TranscriptFilter(result, decision, tag),
        limit=limit,
        cursor=cursor,
        now=call.now,
    )
    return Listed(entries, TranscriptResponse.of)


@operation("GET /v1/transcripts/{transcript_id}", "Get a transcript", role=VIEWER, returns="The transcript")
def get_transcript(call: Call, transcript_id: str) -> TranscriptResponse:
    return TranscriptResponse.of(queries.get_transcript(call.workspace, transcript_id, call.now))
