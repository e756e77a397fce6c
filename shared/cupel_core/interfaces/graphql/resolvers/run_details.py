import asyncio
from typing import Any

from cupel_core.base.paging import fill_page
from cupel_core.contract.budgets import RunBudgetResponse
from cupel_core.contract.case_results import CaseResultsResponse
from cupel_core.contract.definitions import ScenarioResponse
from cupel_core.contract.progress import DetailedProgressResponse
from cupel_core.contract.run_probes import ProbeResponse
from cupel_core.contract.transcripts import TranscriptResponse
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.runs import budgets, case_results, probes, progress, queries
from cupel_core.runs.queries import find_scenario, list_selected_scenarios


@resolves("Run.budget", "getRunBudget")
def budget(request: Request, source: Loaded) -> Loaded | None:
    if source.origin.budget is None:
        return None
    return Loaded(RunBudgetResponse.of(budgets.get_budget(request.workspace, source["id"])))


@resolves("Run.targetProgress", "getRunProgress", 10)
def target_progress(request: Request, source: Loaded) -> Loaded:
    return Loaded(DetailedProgressResponse.of(progress.get_progress(request.workspace, source["id"], request.now)))


@resolves("Run.recentTasks", "listRunProbes", 5)
def recent_tasks(request: Request, source: Loaded, limit: int) -> list[dict[str, Any]]:
    return [_task(view) for view in probes.list_recent(source.origin, check_limit(limit), request.now)]


def _task(view: Any) -> dict[str, Any]:
    probe = Loaded(ProbeResponse.of(view))
    return {
        **probe,
        "probeIndex": probe["index"],
        "model": probe["modelId"],
        "error": probe["error"] and probe["error"]["message"],
    }


@resolves("Run.probes", "listRunProbes", 2)
def run_probes(
    request: Request,
    source: Loaded,
    first: int,
    after: str | None = None,
    status: str | None = None,
    model: str | None = None,
    prompt_id: str | None = None,
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = probes.list_probes(
        request.workspace,
        source["id"],
        status=ProbeStatus(status) if status else None,
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=check_cursor(after),
        now=request.now,
    )
    return connection(fill_page(entries, limit).map(lambda view: Loaded(ProbeResponse.of(view), view)))


@resolves("Run.selectedScenarios", "listScenarios", item_cost=2)
def selected_scenarios(_: Request, source: Loaded, first: int, after: str | None = None) -> dict[str, Any]:
    page = list_selected_scenarios(source.origin, check_limit(first, "first"), check_cursor(after))
    return connection(page.map(lambda each: Loaded(ScenarioResponse.of(each))))


@resolves("Run.cases", "listRunCases", 10, item_cost=2)
def run_cases(
    request: Request,
    source: Loaded,
    first: int,
    after: str | None = None,
    model: str | None = None,
    prompt_id: str | None = None,
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = case_results.list_cases(
        request.workspace, source["id"], model=model, prompt_id=prompt_id, limit=limit, cursor=check_cursor(after)
    )
    return connection(fill_page(entries, limit).map(lambda each: Loaded(CaseResultsResponse.of(each))))


@resolves("Probe.scenario", "listScenarios", 2)
def probe_scenario(_: Request, source: Loaded) -> Loaded | None:
    return _scenario_of(source.origin.run, source["index"])


@resolves("Transcript.scenario", "listScenarios", 2)
async def transcript_scenario(request: Request, source: Loaded) -> Loaded | None:
    run: Loaded | None = await request.load.run.load(source["runId"])
    return await asyncio.to_thread(_scenario_of, run.origin, source["probeIndex"]) if run else None


def _scenario_of(run: Run, probe_index: int) -> Loaded | None:
    found = find_scenario(run, probe_index)
    return Loaded(ScenarioResponse.of(found)) if found else None


@resolves("Probe.transcript", "getTranscript", 5)
def probe_transcript(request: Request, source: Loaded) -> Loaded | None:
    found = queries.transcript_of(source.origin, request.now)
    return Loaded(TranscriptResponse.of(found)) if found else None
