from enum import StrEnum
from typing import Annotated

from pydantic import Field

from cupel_core.base.paging import Entry
from cupel_core.contract.run_probes import ProbeResponse
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.views import ProbeView
from cupel_core.interfaces.mcp.models import Id, ListArguments, ResultModel, UntrustedListResult
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import list_result
from cupel_core.runs import probes

_MAX_TEXT_LENGTH = 300


class ResultFilter(StrEnum):
    ALL = "all"
    COMPLETED = "completed"
    ERROR = "error"
    UNSUMMARIZED = "unsummarized"


_STATUSES = {
    ResultFilter.ALL: None,
    ResultFilter.COMPLETED: ProbeStatus.COMPLETED,
    ResultFilter.ERROR: ProbeStatus.ERROR,
    ResultFilter.UNSUMMARIZED: ProbeStatus.COMPLETED,
}


class GetRunResults(ListArguments):
    run_id: Id
    status: Annotated[ResultFilter, Field(description="`unsummarized`: completed without a decision")] = (
        ResultFilter.ALL
    )
    model: Annotated[
        str | None, Field(strict=True, min_length=1, max_length=300, description="Id of a target, or its model")
    ] = None
    prompt_id: Id | None = None


class ProbeErrorBrief(ResultModel):
    code: str
    message: str
    attempts: int


class ProbeBrief(ResultModel):
    id: Annotated[str, Field(description="Also that of its transcript, once it is completed")]
    index: int
    status: ProbeStatus
    model_id: str
    target_id: str
    prompt_id: str | None = None
    scenario_id: str
    scenario_name: str | None = None
    persona_name: str | None = None
    repeat: int
    success: bool | None = None
    score: float | None = None
    reason: str | None = None
    decision_code: Annotated[str | None, Field(description="`1` to `5`, or `other`")] = None
    summary_error: str | None = None
    error: Annotated[ProbeErrorBrief | None, Field(description="Of the infrastructure, not the target's")] = None


@tool(
    "listRunProbes",
    title="Get the results of a run",
    description=(
        "The probes of a run with decision, result or error. With a filter, a page may have fewer than `limit` and"
        " still a `nextCursor`. get_transcript has the conversation of one."
    ),
    max_kb=8,
    is_default=True,
)
def get_run_results(request: ToolRequest, arguments: GetRunResults) -> UntrustedListResult[ProbeBrief]:
    entries = probes.list_probes(
        request.workspace,
        arguments.run_id,
        status=_STATUSES[arguments.status],
        model=arguments.model,
        prompt_id=arguments.prompt_id,
        limit=arguments.limit,
        cursor=arguments.cursor,
        now=request.now,
    )
    if arguments.status is ResultFilter.UNSUMMARIZED:
        entries = (each for each in entries if _lacks_decision(each))
    return list_result(request, UntrustedListResult[ProbeBrief], entries, arguments.limit, _probe)


def _lacks_decision(entry: Entry[ProbeView]) -> bool:
    transcript = entry.item.transcript if entry.item else None
    return transcript is None or transcript.summary is None or transcript.summary.decision_code is None


def _probe(view: ProbeView) -> ProbeBrief:
    probe = ProbeResponse.of(view)
    summary = view.transcript.summary if view.transcript else None
    result = probe.result
    return ProbeBrief(
        **{name: getattr(probe, name) for name in _SAME},
        success=result.success if result else None,
        score=result.score if result else None,
        reason=_short(result.reason) if result else None,
        decision_code=summary.decision_code if summary else None,
        summary_error=_short(summary.error) if summary else None,
        error=ProbeErrorBrief(
            code=probe.error.code, message=_short(probe.error.message) or "", attempts=probe.error.attempts
        )
        if probe.error
        else None,
    )


_SAME = (
    *("id", "index", "status", "model_id", "target_id", "prompt_id"),
    *("scenario_id", "scenario_name", "persona_name", "repeat"),
)


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MAX_TEXT_LENGTH else f"{text[:_MAX_TEXT_LENGTH]}…"
