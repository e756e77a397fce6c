"""What is used of a run's budget, how far its targets are, and its probes."""

from typing import Any

from cupel_core.contract.budgets import RunBudgetResponse
from cupel_core.contract.progress import DetailedProgressResponse
from cupel_core.contract.runs import ProbeResponse
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.graphql.registry import resolves
from cupel_core.graphql.request import Loaded, Request
from cupel_core.paging import fill_page
from cupel_core.runs import budgets, probes, progress, recent


@resolves("Run.budget", "getRunBudget")
def budget(request: Request, source: Loaded) -> Loaded | None:
    if source.made_of.budget is None:
        return None
    return Loaded(RunBudgetResponse.of(budgets.get_budget(request.workspace, source["id"])))


@resolves("Run.targetProgress", "getRunProgress", 10)
def target_progress(request: Request, source: Loaded) -> Loaded:
    return Loaded(DetailedProgressResponse.of(progress.get_progress(request.workspace, source["id"], request.now)))


@resolves("Run.recentTasks", "listRunProbes", 5)
def recent_tasks(request: Request, source: Loaded, limit: int) -> list[dict[str, Any]]:
    return [_task(view) for view in recent.list_recent(source.made_of, check_limit(limit), request.now)]


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
    return connection(fill_page(entries, limit).map(lambda view: Loaded(ProbeResponse.of(view))))
