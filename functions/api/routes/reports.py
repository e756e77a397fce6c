"""Reports of runs: as JSON, Markdown or HTML."""

from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from api.pages import bounded_page, bounded_record
from api.parameters import Cursor, Limit
from api.rendering import CONTENT_TYPE, Rendered, documented
from api.routing import OperationRouter
from cupel_core.analysis.reports import requests, trial_results
from cupel_core.analysis.reports.render_html import SECURITY_POLICY, render_html
from cupel_core.analysis.reports.render_markdown import render_markdown
from cupel_core.analysis.reports.responses import report_response
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.reports import (
    CreateReport,
    ReportContentResponse,
    ReportConversationPage,
    ReportConversationResponse,
    ReportList,
    ReportResponse,
)
from cupel_core.contract.trials import CreateTrial, EstimateTrial, TrialPlanResponse, TrialResponse
from cupel_core.domain.reports.records import ReportFormat
from cupel_core.interfaces.operations import OPERATIONS
from cupel_core.providers.prices import price_list_version
from cupel_core.workspace.access.starters import started_by

router = OperationRouter()

_MARKDOWN, _HTML = "text/markdown", "text/html"


_RESPONSES: dict[int, OpenAPIResponse] = {
    200: {
        "description": OPERATIONS["getRunReport"].response,
        "content": {
            CONTENT_TYPE: {"model": ReportResponse},
            _MARKDOWN: {"schema": {"type": "string"}},
            _HTML: {"schema": {"type": "string"}},
        },
    },
}
Format = Annotated[
    ReportFormat | None, Query(description="Takes precedence over the `Accept` header; JSON if neither says otherwise")
]


@router.operation(
    "createReport",
    responses=documented(200, "The report of these outcomes, which exists already", ReportResponse)
    | documented(202, OPERATIONS["createReport"].response, ReportResponse),
)
def create_report(
    run_id: str, body: Annotated[CreateReport, Body()] = with_defaults(CreateReport)
) -> Response[ReportResponse]:
    model = body.summarizer_model if body.names_summarizer() else requests.Default.CONFIGURED
    view, is_queued = requests.request(router.workspace, run_id, utc_now(), model, allow_unpriced=body.allow_unpriced)
    return Response(HTTPStatus.ACCEPTED if is_queued else HTTPStatus.OK, CONTENT_TYPE, report_response(view))


@router.operation("listReports")
def list_reports(run_id: str) -> ReportList:
    return ReportList(items=[report_response(view) for view in requests.list_reports(router.workspace, run_id)])


@router.operation("getReport")
def get_report(run_id: str, report_id: str) -> Rendered[ReportResponse]:
    return bounded_record(report_response(requests.get(router.workspace, run_id, report_id, utc_now())))


@router.operation("getRunReport", responses=_RESPONSES)
def get_run_report(run_id: str, format: Format = None) -> Response[Any]:  # noqa: A002 - the parameter's name
    report = report_response(requests.get_newest(router.workspace, run_id, utc_now()))
    match format or _accepted(router.current_event.headers.get("accept", "")):
        case ReportFormat.MARKDOWN:
            text = render_markdown(report, _content_of(report))
            return Response(HTTPStatus.OK, f"{_MARKDOWN}; charset=utf-8", text)
        case ReportFormat.HTML:
            html = render_html(report, _content_of(report))
            headers: dict[str, str | list[str]] = {"Content-Security-Policy": SECURITY_POLICY}
            return Response(HTTPStatus.OK, f"{_HTML}; charset=utf-8", html, headers=headers)
    return Response(HTTPStatus.OK, CONTENT_TYPE, bounded_record(report).json.decode())


@router.operation("listReportConversations")
def list_report_conversations(
    run_id: str, report_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Rendered[ReportConversationPage]:
    entries = requests.list_conversations(router.workspace, run_id, report_id, cursor)
    return bounded_page(ReportConversationPage, entries, limit, _same)


@router.operation(
    "createTrial",
    responses=documented(200, "The trial of this report, which exists already", TrialResponse)
    | documented(201, OPERATIONS["createTrial"].response, TrialResponse),
)
def create_trial(
    run_id: str, report_id: str, body: Annotated[CreateTrial, Body()] = with_defaults(CreateTrial)
) -> Response[TrialResponse]:
    from cupel_core.analysis.reports import trials  # like the import of `start` in runs.py

    caller, now = started_by(router.caller), utc_now()
    started = trials.start(router.workspace, run_id, report_id, body.request(), now, caller)
    status = HTTPStatus.CREATED if started.is_new else HTTPStatus.OK
    return Response(status, CONTENT_TYPE, get_trial(run_id, report_id))


@router.operation("estimateTrial")
def estimate_trial(
    run_id: str, report_id: str, body: Annotated[EstimateTrial, Body()] = with_defaults(EstimateTrial)
) -> TrialPlanResponse:
    from cupel_core.analysis.reports import trials

    planned = trials.plan(router.workspace, run_id, report_id, body.request(), utc_now())
    return TrialPlanResponse(
        **planned.size._asdict(),
        unseen_scenarios=planned.unseen_scenarios,
        max_budget_usd=planned.max_budget_usd,
        estimate=EstimateResponse.of(planned.estimate, price_list_version()),
    )


@router.operation("getTrial")
def get_trial(run_id: str, report_id: str) -> TrialResponse:
    trial = requests.get(router.workspace, run_id, report_id, utc_now()).trial
    if trial is None:
        path = f"/v1/runs/{run_id}/reports/{report_id}/trial"
        raise NotFound(f"the report has no trial; POST {path} starts one")
    return trial_results.to_response(trial)


def _same(item: ReportConversationResponse) -> ReportConversationResponse:
    return item


def _accepted(header: str) -> ReportFormat:
    """The first of the types that there are."""
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
