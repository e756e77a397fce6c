"""Reads reports of runs, whose summaries quote conversations, and asks for new ones."""

from itertools import chain
from typing import Annotated

from pydantic import Field

from cupel_core.analysis.reports import requests
from cupel_core.analysis.reports.responses import report_response
from cupel_core.contract.common import Time
from cupel_core.contract.fields import ModelId
from cupel_core.contract.reports import (
    FindingResponse,
    ReportContentResponse,
    ReportFiguresResponse,
    ReportResponse,
    ReportSummaryResponse,
)
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.interfaces.mcp.models import Arguments, Id, ResultModel, ToolResult, UntrustedResult
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.request import ToolRequest


class FailureText(ResultModel):
    where: str
    why: str


class ReportState(ResultModel):
    id: str
    run_id: str
    status: JobStatus
    is_stale: Annotated[bool, Field(description="Whether outcomes have changed since")]
    failure: FailureText | None = None
    created_at: Time


class ReportTarget(ResultModel):
    name: str
    completed: int
    errored: Annotated[int, Field(description="Infrastructure errors; no failures of the target")]
    win_rate: Annotated[float | None, Field(description="Passed conversations among the judged")] = None
    win_rate_interval95: list[float] | None = None


class ReportFailureMode(ResultModel):
    tag: str
    count: int
    share: Annotated[float, Field(description="Of the completed conversations")]
    sample_conversation_ids: Annotated[list[str], Field(description="Read them with get_transcript")]


class ReportCheck(ResultModel):
    name: str
    passed: int
    failed: int
    errors: int


class ReportQuote(ResultModel):
    conversation_id: str
    quote: str


class ReportFinding(ResultModel):
    title: str
    description: str
    evidence: list[ReportQuote]


class ReportSummary(ResultModel):
    model: Annotated[str, Field(description="The model that wrote it")]
    error: Annotated[str | None, Field(description="Why there is none")] = None
    text: str
    findings: Annotated[
        list[ReportFinding], Field(description="Failure modes, hallucinations, goal failures, inconsistencies")
    ]
    diff: Annotated[str, Field(description="Between the system prompt and the suggested one")]
    rationale: str


class ReportDetail(UntrustedResult, ReportState):
    run_name: str | None = None
    definition_name: str | None = None
    targets: Annotated[list[ReportTarget], Field(description="Empty until the report is completed")]
    cost_usd: Annotated[float | None, Field(description="Absent if a price is unknown")] = None
    failure_modes: Annotated[list[ReportFailureMode], Field(description="The most frequent first")]
    checks: Annotated[list[ReportCheck], Field(description="The least passed first")]
    summary: Annotated[ReportSummary | None, Field(description="What a model says of sample conversations")] = None
    notes: Annotated[list[str], Field(description="What could not be computed")]


class GetReport(Arguments):
    run_id: Id
    report_id: Annotated[Id | None, Field(description="The newest completed one if omitted")] = None


@tool(
    "getReport",
    title="Get the report of a run",
    description=(
        "The report of a run that has ended: success rates, failure modes with sample conversations, checks, costs, and"
        " a model's summary with quotations and a suggested prompt. create_report makes one."
    ),
    max_kb=16,
)
def get_report(request: ToolRequest, arguments: GetReport) -> ReportDetail:
    if arguments.report_id is None:
        view = requests.get_newest(request.workspace, arguments.run_id, request.now)
    else:
        view = requests.get(request.workspace, arguments.run_id, arguments.report_id, request.now)
    report = report_response(view)
    content, summary = report.content, report.texts.summary if report.texts else None
    return ReportDetail(
        **_state(report).model_dump(),
        run_name=content.run_name if content else None,
        definition_name=content.definition_name if content else None,
        targets=_targets(content) if content else [],
        cost_usd=content.cost.usd if content else None,
        failure_modes=[ReportFailureMode.model_validate(each) for each in content.top_failure_modes] if content else [],
        checks=[ReportCheck.model_validate(each) for each in content.judge_stats] if content else [],
        summary=_summary(summary) if summary else None,
        notes=content.notes if content else [],
    )


class CreateReportOf(Arguments):
    run_id: Id
    summarizer_model: Annotated[
        ModelId | None,
        Field(description="Writes the summary; null for none, the configured one or judge if omitted"),
    ] = None
    allow_unpriced: Annotated[
        bool,
        Field(strict=True, description="The user agreed to a model whose price is unknown, which no budget limits"),
    ] = False


class ReportStarted(ToolResult, ReportState):
    """Its figures are read with get_report once it is completed."""


@tool(
    "createReport",
    title="Make a report of a run",
    description=(
        "Has the report of a run that has ended made by a job, unless there is one of the same outcomes; get_report"
        " reads it once it is completed. A summarizer's calls cost money."
    ),
    max_kb=2,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def create_report(request: ToolRequest, arguments: CreateReportOf) -> ReportStarted:
    is_named = "summarizer_model" in arguments.model_fields_set
    model = arguments.summarizer_model if is_named else requests.Default.CONFIGURED
    run_id, allow_unpriced = arguments.run_id, arguments.allow_unpriced
    found = requests.request(request.workspace, run_id, request.now, model, allow_unpriced=allow_unpriced)
    return ReportStarted(**_state(report_response(found.view)).model_dump())


def _state(report: ReportResponse) -> ReportState:
    return ReportState.model_validate(report)


def _targets(content: ReportContentResponse) -> list[ReportTarget]:
    return [_target(each.name, each.figures) for each in content.columns]


def _target(name: str, figures: ReportFiguresResponse) -> ReportTarget:
    return ReportTarget(
        name=name,
        completed=figures.completed,
        errored=figures.errored,
        win_rate=figures.win_rate.share,
        win_rate_interval95=figures.win_rate.interval,
    )


def _summary(summary: ReportSummaryResponse) -> ReportSummary:
    found: chain[FindingResponse] = chain(
        summary.failure_modes, summary.hallucinations, summary.goal_failures, summary.inconsistencies
    )
    return ReportSummary(
        model=summary.model,
        error=summary.error,
        text=summary.text,
        findings=[ReportFinding.model_validate(each) for each in found],
        diff=summary.diff,
        rationale=summary.rationale,
    )
