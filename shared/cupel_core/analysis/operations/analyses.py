from typing import Annotated

from cupel_core.analysis import breakdowns, deep_requests, queries, results
from cupel_core.analysis.queries import ListedAnalysis, ScenarioQuery, ScenarioSort
from cupel_core.analysis.responses import pending_response, scenario_response
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import bytes_etag
from cupel_core.contract.analysis import AnalysisPage, AnalysisResponse, AnalysisSummaryResponse, AnalyzeRun
from cupel_core.contract.analyzed_scenarios import AnalyzedScenarioPage
from cupel_core.contract.breakdowns import BreakdownResponse
from cupel_core.contract.common import with_defaults
from cupel_core.contract.deep_analysis import DeepAnalysisResponse
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Answered,
    Call,
    Listed,
    Rendered,
    Revalidated,
    counting_time,
    operation,
)
from cupel_core.contract.payloads import render_model
from cupel_core.contract.query import (
    Cursor,
    Limit,
    ModelFilter,
    Parameter,
    PromptFilter,
    RescoreId,
)
from cupel_core.contract.run_results import RunResultsResponse
from cupel_core.domain.analysis.jobs import Job
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord

Level = Annotated[float | None, Parameter(description="With `dimension`: only scenarios with this score in it")]


DimensionFilter = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only scenarios with a score in this dimension")
]


GroupField = Annotated[
    str | None,
    Parameter(
        min_length=1,
        max_length=200,
        description="`persona`, a dimension, a field of the scenarios' metadata or one of their variables",
    ),
]


@operation(
    "GET /v1/runs/{run_id}/analysis",
    "Get the newest analysis of a run",
    role=VIEWER,
    returns="The analysis with its figures",
    tag="analysis",
)
def get_run_analysis(call: Call, run_id: str, rescore_id: RescoreId = None) -> Revalidated[Rendered[AnalysisResponse]]:
    """A run is analyzed when it completes. `isStale` says whether outcomes have changed since; docs/statistics.md
    explains the figures. Has an `ETag`; a request with `If-None-Match` is answered with 304.
    """
    return _newest(call, run_id, rescore_id, AnalysisKind.BASIC)


@operation(
    "GET /v1/runs/{run_id}/analysis/deep",
    "Get the newest deep analysis of a run",
    role=VIEWER,
    returns="The analysis with its figures",
    tag="analysis",
)
def get_deep_analysis(
    call: Call, run_id: str, rescore_id: RescoreId = None
) -> Revalidated[Rendered[DeepAnalysisResponse]]:
    """A run is deeply analyzed on request (`analyzeRun` with the kind `deep`). `isStale` says whether outcomes have
    changed since; docs/statistics.md explains the figures. Has an `ETag`; a request with `If-None-Match` is
    answered with 304.
    """
    return _newest(call, run_id, rescore_id, AnalysisKind.DEEP)


@operation(
    "GET /v1/runs/{run_id}/analysis/history",
    "List the analyses of a run",
    role=VIEWER,
    returns="A page of analyses without their figures, deep ones first, each kind newest first",
    tag="analysis",
)
def list_run_analyses(
    call: Call, run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[AnalysisPage]:
    listed = queries.list_analyses(call.workspace, run_id, limit, cursor)
    return Listed(listed, _summary)


@operation(
    "GET /v1/runs/{run_id}/analysis/scenarios",
    "List the scenarios of a run with what each target made of them",
    role=VIEWER,
    returns="A page of scenarios",
    tag="analysis",
)
def list_analyzed_scenarios(
    call: Call,
    run_id: str,
    sort: Annotated[ScenarioSort, Parameter(description="What scenarios are ordered by")] = ScenarioSort.VARIANCE,
    ascending: Annotated[bool, Parameter(description="The lowest first instead of the highest")] = False,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    dimension: DimensionFilter = None,
    level: Level = None,
    rescore_id: RescoreId = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[AnalyzedScenarioPage]:
    query = ScenarioQuery(sort, ascending, model, prompt_id, dimension, level)
    entries = queries.list_scenarios(call.workspace, run_id, rescore_id, query, limit=limit, cursor=cursor)
    return Listed(entries, scenario_response)


@operation(
    "GET /v1/runs/{run_id}/analysis/breakdown",
    "Get a run's figures by persona, dimension or metadata",
    role=VIEWER,
    returns="The figures of each group of cases, by target and prompt",
    tag="analysis",
)
def get_run_breakdown(
    call: Call, run_id: str, by: GroupField = None, rescore_id: RescoreId = None
) -> BreakdownResponse:
    """Without `by`, the response lists the fields that the run can be grouped by. Runs of more than 500,000
    combinations of case, target and prompt are refused. Figures of a run that goes on cover the outcomes so far."""
    found = breakdowns.get_breakdown(call.workspace, run_id, by, rescore_id)
    return BreakdownResponse.of(found, rescore_id)


@operation(
    "POST /v1/runs/{run_id}/analysis",
    "Analyze a run that has ended",
    role=MEMBER,
    returns="The analysis; `GET …/analysis` has its figures",
    tag="analysis",
    also={202: "A deep analysis, or one of more than 10,000 probes, is being computed"},
    location="/v1/runs/{run_id}/analysis",
)
def analyze_run(
    call: Call, run_id: str, body: AnalyzeRun = with_defaults(AnalyzeRun)
) -> Answered[AnalysisSummaryResponse]:
    """The newest analysis is returned if nothing has changed since (unless `force`). A run of more than 10,000 probes
    is analyzed in the background (202), and a deep analysis is computed by a job (202), which `jobId` names. 409 is
    returned while the run goes on."""
    if body.kind is AnalysisKind.DEEP:
        return _analyze_deeply(call, run_id, body)
    found = queries.request_analysis(call.workspace, run_id, body.rescore_id, call.now, force=body.force)
    return _accepted(run_id, body) if found is None else _existing(found)


def _analyze_deeply(call: Call, run_id: str, body: AnalyzeRun) -> Answered[AnalysisSummaryResponse]:
    found, job = deep_requests.request(
        call.workspace, run_id, body.rescore_id, call.now, force=body.force, narrative=body.narrative
    )
    return _accepted(run_id, body, job) if found is None else _existing(found)


def _existing(record: AnalysisRecord) -> Answered[AnalysisSummaryResponse]:
    return Answered(_summary(ListedAnalysis(record, is_current=True, stale_reason=None)), 200)


def _accepted(run_id: str, body: AnalyzeRun, job: Job | None = None) -> Answered[AnalysisSummaryResponse]:
    location = f"/v1/runs/{run_id}/analysis{'/deep' if job else ''}"
    return Answered(pending_response(run_id, body, job), 202, location)


@operation(
    "GET /v1/runs/{run_id}/results",
    "Get the result table of a run, also while it goes on",
    role=VIEWER,
    returns="A row per target and prompt",
    tag="analysis",
)
def get_run_results(call: Call, run_id: str) -> Revalidated[Rendered[RunResultsResponse]]:
    """No transcript is read. Its `ETag` changes with the figures; `If-None-Match` is answered with 304."""
    found = results.get_results(call.workspace, run_id, call.now, counting_time())
    body: Rendered[RunResultsResponse] = Rendered(render_model(RunResultsResponse.of(found)))
    return Revalidated(body, bytes_etag(body.json))


def _summary(listed: ListedAnalysis) -> AnalysisSummaryResponse:
    return AnalysisSummaryResponse.of(listed.record, listed.stale_reason, is_current=listed.is_current)


def _newest[M: AnalysisSummaryResponse](
    call: Call, run_id: str, rescore_id: str | None, kind: AnalysisKind
) -> Revalidated[Rendered[M]]:
    """Return the newest analysis. If the caller already has its figures, only the head is read: figures of an id never
    change."""
    record, stale_reason = queries.get_head(call.workspace, run_id, rescore_id, kind)
    head = render_model(_summary(ListedAnalysis(record, is_current=True, stale_reason=stale_reason)))
    tag = bytes_etag(head)
    if call.knows(tag):
        return Revalidated(Rendered(b""), tag)
    return Revalidated(Rendered(b'%b,"figures":%b}' % (head[:-1], queries.read_figures(record) or b"null")), tag)
