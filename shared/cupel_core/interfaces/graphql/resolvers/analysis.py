"""Resolves analyses. Their figures are read when a field of them is requested."""

import asyncio
from typing import Any

import orjson

from cupel_core.analysis import queries
from cupel_core.analysis.queries import AnalysisView, ListedAnalysis, NewestAnalysis, ScenarioQuery, ScenarioSort
from cupel_core.analysis.responses import scenario_response
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page
from cupel_core.contract.analysis import AnalysisSummaryResponse
from cupel_core.domain.analysis.records import AnalysisStatus
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.store import analyses


def to_summary(listed: ListedAnalysis) -> Loaded:
    summary = AnalysisSummaryResponse.of(listed.record, listed.stale_reason, is_current=listed.is_current)
    return Loaded(summary, listed.record)


def _analysis(view: AnalysisView | NewestAnalysis | None) -> Loaded | None:
    if view is None:
        return None
    return to_summary(ListedAnalysis(view.record, is_current=True, stale_reason=view.stale_reason))


@resolves("Query.analysis", "getRunAnalysis", 2)
def analysis(request: Request, _: None, run_id: str, rescore_id: str | None = None) -> Loaded | None:
    try:
        return _analysis(queries.get_analysis(request.workspace, run_id, rescore_id))
    except NotFound:
        return None


@resolves("Run.analysis", "getRunAnalysis", 2)
async def run_analysis(request: Request, source: Loaded) -> Loaded | None:
    return _analysis(await request.load.analysis.load(source["id"]))


@resolves("Run.deepAnalysis", "getDeepAnalysis", 2)
async def deep_analysis(request: Request, source: Loaded) -> Loaded | None:
    return _analysis(await request.load.deep_analysis.load(source["id"]))


@resolves("Run.analysisHistory", "listRunAnalyses", 2)
def analysis_history(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = queries.list_analyses(request.workspace, source["id"], check_limit(limit), None)
    return page.map(to_summary)


@resolves("Analysis.figures", "getRunAnalysis", 2)
@resolves("DeepAnalysis.figures", "getDeepAnalysis", 2)
async def figures(_: Request, source: Loaded) -> Any:
    if "figures" not in source:
        source["figures"] = asyncio.ensure_future(asyncio.to_thread(_read, source))
    return await source["figures"]


def _read(source: Loaded) -> Any:
    if source.origin.status is not AnalysisStatus.COMPLETED:
        return None
    return orjson.loads(analyses.read_document(source.origin))


@resolves("Analysis.basicStats", "getRunAnalysis", 2)
async def basic_stats(request: Request, source: Loaded) -> Any:
    return await _part(request, source, "columns")


@resolves("Analysis.modelAgreement", "getRunAnalysis", 2)
async def model_agreement(request: Request, source: Loaded) -> Any:
    return await _part(request, source, "agreement")


@resolves("Analysis.dimensionAnalysis", "getRunAnalysis", 2)
async def dimension_analysis(request: Request, source: Loaded) -> Any:
    return await _part(request, source, "dimensions")


@resolves("Analysis.mostContestedScenarios", "getRunAnalysis", 2, item_cost=0)
async def most_contested(request: Request, source: Loaded, limit: int) -> Any:
    return (await _part(request, source, "contested") or [])[: check_limit(limit)]


async def _part(request: Request, source: Loaded, name: str) -> Any:
    found = await figures(request, source)
    return found and found[name]


@resolves("Analysis.scenarios", "listAnalyzedScenarios", 10, item_cost=0)
def scenarios(
    request: Request,
    source: Loaded,
    sort: str,
    first: int,
    *,
    ascending: bool,
    model: str | None = None,
    prompt_id: str | None = None,
    after: str | None = None,
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = queries.list_scenarios(
        request.workspace,
        source["runId"],
        source["rescoreId"],
        ScenarioQuery(ScenarioSort(sort), ascending, model, prompt_id),
        limit=limit,
        cursor=check_cursor(after),
    )
    return connection(fill_page(entries, limit).map(lambda each: Loaded(scenario_response(each))))
