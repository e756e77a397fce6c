"""Analyses of runs, and their result tables."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from api.pages import bounded_page
from api.parameters import Cursor, Limit, ModelFilter, PromptFilter, RescoreId, counting_time
from api.rendering import CONTENT_TYPE, Rendered, documented, render_model
from api.routing import OperationRouter
from cupel_core.analysis import breakdowns, deep_requests, queries, results
from cupel_core.analysis.queries import ListedAnalysis, ScenarioQuery, ScenarioSort
from cupel_core.analysis.responses import pending_response, scenario_response
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import bytes_etag
from cupel_core.contract.analysis import (
    AnalysisPage,
    AnalysisResponse,
    AnalysisSummaryResponse,
    AnalyzedScenarioPage,
    AnalyzeRun,
)
from cupel_core.contract.breakdowns import BreakdownResponse
from cupel_core.contract.common import with_defaults
from cupel_core.contract.deep_analysis import DeepAnalysisResponse
from cupel_core.contract.run_results import RunResultsResponse
from cupel_core.domain.analysis.jobs import Job
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord

router = OperationRouter()
Level = Annotated[float | None, Query(description="With `dimension`: only scenarios with this score in it")]
DimensionFilter = Annotated[
    str | None, Query(min_length=1, max_length=200, description="Only scenarios with a score in this dimension")
]

GroupField = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="`persona`, a dimension, a field of the scenarios' metadata or one of their variables",
    ),
]


@router.operation("getRunAnalysis")
def get_run_analysis(run_id: str, rescore_id: RescoreId = None) -> Rendered[AnalysisResponse]:
    return _newest(run_id, rescore_id, AnalysisKind.BASIC)


@router.operation("getDeepAnalysis")
def get_deep_analysis(run_id: str, rescore_id: RescoreId = None) -> Rendered[DeepAnalysisResponse]:
    return _newest(run_id, rescore_id, AnalysisKind.DEEP)


@router.operation("listRunAnalyses")
def list_run_analyses(run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[AnalysisPage]:
    listed = queries.list_analyses(router.workspace, run_id, limit, cursor)
    return bounded_page(AnalysisPage, listed.entries(), limit, _summary)


@router.operation("listAnalyzedScenarios")
def list_analyzed_scenarios(
    run_id: str,
    sort: Annotated[ScenarioSort, Query(description="What scenarios are ordered by")] = ScenarioSort.VARIANCE,
    ascending: Annotated[bool, Query(description="The lowest first instead of the highest")] = False,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    dimension: DimensionFilter = None,
    level: Level = None,
    rescore_id: RescoreId = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[AnalyzedScenarioPage]:
    query = ScenarioQuery(sort, ascending, model, prompt_id, dimension, level)
    entries = queries.list_scenarios(router.workspace, run_id, rescore_id, query, limit=limit, cursor=cursor)
    return bounded_page(AnalyzedScenarioPage, entries, limit, scenario_response)


@router.operation("getRunBreakdown")
def get_run_breakdown(run_id: str, by: GroupField = None, rescore_id: RescoreId = None) -> Rendered[BreakdownResponse]:
    found = breakdowns.get_breakdown(router.workspace, run_id, by, rescore_id)
    return Rendered(render_model(BreakdownResponse.of(found, rescore_id)))


@router.operation(
    "analyzeRun",
    responses=documented(200, "The analysis; `GET …/analysis` has its figures", AnalysisSummaryResponse)
    | documented(202, "A deep analysis, or one of more than 10,000 probes, is being computed", AnalysisSummaryResponse),
)
def analyze_run(
    run_id: str, body: Annotated[AnalyzeRun, Body()] = with_defaults(AnalyzeRun)
) -> Response[AnalysisSummaryResponse]:
    if body.kind is AnalysisKind.DEEP:
        return _analyze_deeply(run_id, body)
    found = queries.request_analysis(router.workspace, run_id, body.rescore_id, utc_now(), force=body.force)
    return _accepted(run_id, body) if found is None else _existing(found)


def _analyze_deeply(run_id: str, body: AnalyzeRun) -> Response[AnalysisSummaryResponse]:
    found, job = deep_requests.request(
        router.workspace, run_id, body.rescore_id, utc_now(), force=body.force, narrative=body.narrative
    )
    return _accepted(run_id, body, job) if found is None else _existing(found)


def _existing(record: AnalysisRecord) -> Response[AnalysisSummaryResponse]:
    return Response(200, CONTENT_TYPE, _summary(ListedAnalysis(record, is_current=True, stale_reason=None)))


def _accepted(run_id: str, body: AnalyzeRun, job: Job | None = None) -> Response[AnalysisSummaryResponse]:
    location = f"/v1/runs/{run_id}/analysis{'/deep' if job else ''}"
    return Response(202, CONTENT_TYPE, pending_response(run_id, body, job), headers={"Location": location})


@router.operation("getRunResults")
def get_run_results(run_id: str) -> Rendered[RunResultsResponse]:
    found = results.get_results(router.workspace, run_id, utc_now(), counting_time())
    body: Rendered[RunResultsResponse] = Rendered(render_model(RunResultsResponse.of(found)))
    return router.revalidated(body, bytes_etag(body.json))


def _summary(listed: ListedAnalysis) -> AnalysisSummaryResponse:
    fields = AnalysisSummaryResponse.fields_of(listed.record, listed.stale_reason, is_current=listed.is_current)
    return AnalysisSummaryResponse(**fields)


def _newest[M: AnalysisSummaryResponse](run_id: str, rescore_id: str | None, kind: AnalysisKind) -> Rendered[M]:
    """The figures are JSON already. Who has them reads the head alone, as those of an id never change."""
    record, stale_reason = queries.get_head(router.workspace, run_id, rescore_id, kind)
    head = render_model(_summary(ListedAnalysis(record, is_current=True, stale_reason=stale_reason)))
    tag = bytes_etag(head)
    if router.is_known(tag):
        return router.revalidated(Rendered(b""), tag)
    return router.revalidated(Rendered(b'%b,"figures":%b}' % (head[:-1], queries.read_figures(record) or b"null")), tag)
