from http import HTTPStatus
from typing import Annotated

from cupel_core.analysis.reports import requests, trial_results
from cupel_core.analysis.reports.render_html import SECURITY_POLICY, render_html
from cupel_core.analysis.reports.render_markdown import render_markdown
from cupel_core.analysis.reports.responses import report_response
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.operation import MEMBER, VIEWER, Answered, AsTool, Call, Listed, Text, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)
from cupel_core.contract.report_content import ReportContentResponse, ReportConversationPage
from cupel_core.contract.reports import CreateReport, ReportList, ReportResponse
from cupel_core.contract.trials import CreateTrial, EstimateTrial, TrialPlanResponse, TrialResponse
from cupel_core.domain.reports.records import ReportFormat
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.starters import started_by

_MARKDOWN, _HTML = "text/markdown", "text/html"


Format = Annotated[
    ReportFormat | None,
    Parameter(description="Takes precedence over the `Accept` header; JSON if neither says otherwise"),
]


@operation(
    "POST /v1/runs/{run_id}/reports",
    "Make a report of a run that has ended",
    role=MEMBER,
    returns="The report, or that of the same outcomes if there is one",
    tag="reports",
    status=202,
    also={200: "The report of these outcomes, which exists already"},
    location="/v1/runs/{run_id}/reports/{id}",
    is_repeatable=True,
    tool=AsTool(ToolGroup.ANALYSIS, "id runId status isStale failure createdAt", max_kb=2, calls_models=True),
)
def create_report(
    call: Call, run_id: str, body: CreateReport = with_defaults(CreateReport)
) -> Answered[ReportResponse]:
    """A job makes it: 202 is returned if this request queued it, 200 if the same report of the same outcomes exists,
    and 409 while the run is going on."""
    model = body.summarizer_model if body.names_summarizer() else requests.Default.CONFIGURED
    view, is_queued = requests.request(call.workspace, run_id, call.now, model, allow_unpriced=body.allow_unpriced)
    return Answered(report_response(view), HTTPStatus.ACCEPTED if is_queued else HTTPStatus.OK)


@operation(
    "GET /v1/runs/{run_id}/reports",
    "List the reports of a run, newest first",
    role=VIEWER,
    returns="The reports, without their content",
    tag="reports",
)
def list_reports(call: Call, run_id: str) -> ReportList:
    return ReportList(items=[report_response(view) for view in requests.list_reports(call.workspace, run_id)])


@operation(
    "GET /v1/runs/{run_id}/reports/{report_id}",
    "Get a report",
    role=VIEWER,
    returns="The report, with its content once it is completed",
    tag="reports",
)
def get_report(call: Call, run_id: str, report_id: str) -> ReportResponse:
    return report_response(requests.get(call.workspace, run_id, report_id, call.now))


@operation(
    "GET /v1/runs/{run_id}/report",
    "Get the newest completed report of a run",
    role=VIEWER,
    returns="The report, as JSON, Markdown or a single HTML page",
    tag="reports",
    texts=(_MARKDOWN, _HTML),
    tool=AsTool(
        ToolGroup.READ,
        (
            "id runId status isStale failure createdAt content.runName content.definitionName"
            " content.columns.name content.columns.figures.completed content.columns.figures.errored"
            " content.columns.figures.winRate content.cost.usd content.topFailureModes"
            " content.judgeStats content.notes texts.summary.model texts.summary.error"
            " texts.summary.text texts.summary.failureModes texts.summary.hallucinations"
            " texts.summary.goalFailures texts.summary.inconsistencies texts.summary.diff"
            " texts.summary.rationale"
        ),
        name="get_report",
        is_default=True,
        max_kb=16,
        has_untrusted_texts=True,
    ),
)
def get_run_report(
    call: Call,
    run_id: str,
    format: Format = None,  # noqa: A002 - the parameter's name
) -> ReportResponse | Text:
    report = report_response(requests.get_newest(call.workspace, run_id, call.now))
    match format or _accepted(call.http.headers.get("accept", "")):
        case ReportFormat.MARKDOWN:
            return Text(f"{_MARKDOWN}; charset=utf-8", render_markdown(report, _content_of(report)))
        case ReportFormat.HTML:
            html = render_html(report, _content_of(report))
            return Text(f"{_HTML}; charset=utf-8", html, {"Content-Security-Policy": SECURITY_POLICY})
    return report


@operation(
    "GET /v1/runs/{run_id}/reports/{report_id}/conversations",
    "List the completed conversations of the run, with their failure tags",
    role=VIEWER,
    returns="A page of conversations, as they are now",
    tag="reports",
)
def list_report_conversations(
    call: Call, run_id: str, report_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[ReportConversationPage]:
    entries = requests.list_conversations(call.workspace, run_id, report_id, cursor)
    return Listed(entries, lambda item: item)


@operation(
    "POST /v1/runs/{run_id}/reports/{report_id}/trial",
    "Try the revised system prompt of a report against the original",
    role=MEMBER,
    returns="The trial, whose two runs have started",
    tag="reports",
    status=201,
    also={200: "The trial of this report, which exists already"},
    location="/v1/runs/{run_id}/reports/{report_id}/trial",
    is_repeatable=True,
)
def create_trial(
    call: Call, run_id: str, report_id: str, body: CreateTrial = with_defaults(CreateTrial)
) -> Answered[TrialResponse]:
    """Both prompts are run anew on the same scenarios, first those that the summarizer has not read, and their pass
    rates are compared. A report has one trial: 201 is returned if this request started it, 200 if it exists, and 409
    without a revised prompt or if the expected cost must be confirmed."""
    from cupel_core.analysis.reports import trials  # Other requests start no run and do not need this import.

    caller, now = started_by(call.caller), call.now
    started = trials.start(call.workspace, run_id, report_id, body.request(), now, caller)
    status = HTTPStatus.CREATED if started.is_new else HTTPStatus.OK
    return Answered(get_trial(call, run_id, report_id), status)


@operation(
    "POST /v1/runs/{run_id}/reports/{report_id}/trial/estimate",
    "Say how large a trial would be, what it could find and what it would cost",
    role=MEMBER,
    returns="The plan of the trial; nothing is written",
    tag="reports",
    is_repeatable=True,
)
def estimate_trial(
    call: Call, run_id: str, report_id: str, body: EstimateTrial = with_defaults(EstimateTrial)
) -> TrialPlanResponse:
    from cupel_core.analysis.reports import trials

    planned = trials.plan(call.workspace, run_id, report_id, body.request(), call.now)
    return TrialPlanResponse(
        **planned.size._asdict(),
        unseen_scenarios=planned.unseen_scenarios,
        max_budget_usd=planned.max_budget_usd,
        estimate=EstimateResponse.of(planned.estimate, price_list_version()),
    )


@operation(
    "GET /v1/runs/{run_id}/reports/{report_id}/trial",
    "Get the trial of a report's revised prompt",
    role=VIEWER,
    returns="The trial, with its result once both runs have ended and are compared",
    tag="reports",
)
def get_trial(call: Call, run_id: str, report_id: str) -> TrialResponse:
    trial = requests.get(call.workspace, run_id, report_id, call.now).trial
    if trial is None:
        path = f"/v1/runs/{run_id}/reports/{report_id}/trial"
        raise NotFound(f"the report has no trial; POST {path} starts one")
    return trial_results.to_response(trial)


def _accepted(header: str) -> ReportFormat:
    for part in header.split(","):
        match part.partition(";")[0].strip().lower():
            case "text/html":
                return ReportFormat.HTML
            case "text/markdown" | "text/plain":
                return ReportFormat.MARKDOWN
            case "application/json":
                return ReportFormat.JSON
    return ReportFormat.JSON


def _content_of(report: ReportResponse) -> ReportContentResponse:
    if report.content is None:
        raise Conflict(f"the report is {report.status}")
    return report.content
