"""Resolves comparisons, experiments and their jobs. Figures are read when a field of them is requested."""

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import Any

from cupel_core.analysis import comparisons, lists
from cupel_core.analysis import experiments as experiment_analysis
from cupel_core.analysis.responses import experiment_summary
from cupel_core.base.paging import Page, fill_page, slice_page
from cupel_core.contract.comparisons import (
    ComparisonSummaryResponse,
    RunComparisonResponse,
    ScenarioChangeResponse,
)
from cupel_core.interfaces.graphql.inputs import check_limit, check_position
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.store import experiment_runs


def _get(request: Request, comparison_id: str) -> Loaded:
    return _loaded(comparisons.get(request.workspace, comparison_id))


def _loaded(view: comparisons.ComparisonView) -> Loaded:
    return Loaded(RunComparisonResponse.from_value(view.comparison, figures=view.figures, is_stale=view.is_stale))


def _list(request: Request, limit: int, *, run_id: str | None = None, experiment_id: str | None = None) -> Page[Loaded]:
    page = lists.list_comparisons(
        request.workspace, run_id=run_id, experiment_id=experiment_id, limit=check_limit(limit), cursor=None
    )
    return page.map(lambda each: Loaded(ComparisonSummaryResponse.from_value(each)))


@resolves("Run.comparisons", "listComparisons")
def run_comparisons(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    return _list(request, limit, run_id=source["id"])


@resolves("Experiment.comparisons", "listComparisons")
def experiment_comparisons(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    return _list(request, limit, experiment_id=source["id"])


@resolves("RunComparison.figures", "getComparison", 2)
async def figures(request: Request, source: Loaded) -> Any:
    return (await _whole(request, source))["figures"]


@resolves("RunComparison.isStale", "getComparison", 2)
async def is_stale(request: Request, source: Loaded) -> Any:
    return (await _whole(request, source))["isStale"]


@resolves("RunComparison.jobId", "getComparison", 2)
async def job_id(request: Request, source: Loaded) -> Any:
    return (await _whole(request, source))["jobId"]


async def _whole(request: Request, source: Loaded) -> Loaded:
    if "figures" in source:
        return source
    if source.origin is None:
        source.origin = asyncio.ensure_future(asyncio.to_thread(_get, request, source["id"]))
    whole: Loaded = await source.origin
    return whole


@resolves("RunComparison.baselineRun", "getRun")
async def baseline_run(request: Request, source: Loaded) -> Loaded | None:
    found: Loaded | None = await request.load.run.load(source["baseline"]["runId"])
    return found


@resolves("RunComparison.comparisonRun", "getRun")
async def comparison_run(request: Request, source: Loaded) -> Loaded | None:
    found: Loaded | None = await request.load.run.load(source["comparison"]["runId"])
    return found


@resolves("RunComparison.deltaByModel", "getComparison", 2)
async def delta_by_model(request: Request, source: Loaded) -> Any:
    rows = await _rows(request, source)
    return rows and {_name(row): row["difference"] for row in rows}


@resolves("RunComparison.statisticalSignificance", "getComparison", 2)
async def significance(request: Request, source: Loaded) -> Any:
    rows = await _rows(request, source)
    names = ("test", "p", "adjustedP", "interval", "effectSize", "verdict", "sentence")
    return rows and {_name(row): {name: row[name] for name in names} for row in rows}


@resolves("RunComparison.whatChanged", "getComparison", 2)
async def what_changed(request: Request, source: Loaded) -> Any:
    found = await figures(request, source)
    return found and found["whatChanged"]


async def _rows(request: Request, source: Loaded) -> Any:
    found = await figures(request, source)
    return found and found["rows"]


def _name(row: dict[str, Any]) -> str:
    sides = [_columns(row[side]) for side in ("baseline", "comparison")]
    return " → ".join(dict.fromkeys(sides))


def _columns(columns: Sequence[dict[str, Any]]) -> str:
    return ", ".join(" ".join(filter(None, (each["targetId"], each["promptId"]))) for each in columns)


@resolves("RunComparison.mostChangedScenarios", "listComparisonScenarios", 2, item_cost=0)
async def most_changed(request: Request, source: Loaded, limit: int, row: int | None = None) -> list[dict[str, Any]]:
    names = [_name(each) for each in await _rows(request, source) or ()]
    if not names:
        return []
    return await asyncio.to_thread(_most_changed, request, source, names, limit, row)


def _most_changed(
    request: Request, source: Loaded, names: Sequence[str], limit: int, row: int | None
) -> list[dict[str, Any]]:
    position = None if row is None else check_position(row, "row")
    entries = comparisons.list_scenarios(request.workspace, source["id"], row=position, change=None, cursor=None)
    page = fill_page(entries, check_limit(limit))
    return [_delta(Loaded(ScenarioChangeResponse.model_validate(each)), names) for each in page.items]


def _delta(change: Loaded, names: Sequence[str]) -> dict[str, Any]:
    return {
        "model": names[change["row"]],
        **change,
        "baselineScore": change["baseline"],
        "comparisonScore": change["comparison"],
        "delta": change["difference"],
    }


def _side(run_id: str, options: dict[str, Any], side: str) -> dict[str, Any]:
    names = {f"{side}Targets": "targets", f"{side}Prompts": "prompts"}
    chosen = {names[name]: value for name, value in options.items() if name in names}
    return dict(runId=run_id, **chosen)


@resolves("Run.experiment", "getExperiment")
async def run_experiment(request: Request, source: Loaded) -> Loaded | None:
    if source["experimentId"] is None:
        return None
    found: Loaded | None = await request.load.experiment.load(source["experimentId"])
    return found


@resolves("Experiment.baselineRun", "getRun")
async def experiment_baseline(request: Request, source: Loaded) -> Loaded | None:
    if source["baselineRunId"] is None:
        return None
    found: Loaded | None = await request.load.run.load(source["baselineRunId"])
    return found


@resolves("Experiment.runs", "listRuns")
async def experiment_runs_of(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = await asyncio.to_thread(_run_ids, request.workspace, source["id"], check_limit(limit))
    loaded = await request.load.run.load_many(page.items)
    found = (each for each in loaded if each is not None and each["experimentId"] == source["id"])
    return Page(tuple(found), page.next_cursor)


def _run_ids(workspace: str, experiment_id: str, limit: int) -> Page[str]:
    return slice_page(list(islice(experiment_runs.list_run_ids(workspace, experiment_id), limit + 1)), limit, None)


@resolves("Experiment.summary", "getExperimentSummary", 20)
def summary(request: Request, source: Loaded) -> Loaded:
    return Loaded(experiment_summary(experiment_analysis.summary(request.workspace, source["id"], request.now)))
