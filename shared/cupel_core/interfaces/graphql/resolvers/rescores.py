"""Rescores of runs, and their results."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page
from cupel_core.contract.rescores import CreateRescore, RescoreResponse, RescoreResultResponse, UpdateRescoreBudget
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.runs.rescoring import queries, start
from cupel_core.store import idempotency


@resolves("Query.rescore", "getRescore")
def rescore(request: Request, _: None, run_id: str, rescore_id: str) -> Loaded | None:
    try:
        return Loaded(RescoreResponse.of(queries.get_rescore(request.workspace, run_id, rescore_id)))
    except NotFound:
        return None


@resolves("Run.rescores", "listRescores")
def run_rescores(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = queries.list_rescores(request.workspace, source["id"], check_limit(limit), None)
    return page.map(lambda each: Loaded(RescoreResponse.of(each)))


@resolves("Rescore.results", "listRescoreResults", 1, item_cost=2)
def results(
    request: Request,
    source: Loaded,
    first: int,
    after: str | None = None,
    model: str | None = None,
    prompt_id: str | None = None,
) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = queries.list_results(
        request.workspace,
        source["runId"],
        source["id"],
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=check_cursor(after),
        now=request.now,
    )
    return connection(fill_page(entries, limit).map(lambda each: Loaded(RescoreResultResponse.of(each))))


@resolves("Mutation.createRescore", "createRescore", 20)
def create_rescore(request: Request, _: None, run_id: str, body: dict[str, Any] | None = None) -> Loaded:
    idempotency.check_key(request.idempotency_key)
    spec = parse(CreateRescore, body or {}).spec()
    started = start.start(request.workspace, run_id, spec, request.idempotency_key, request.now)
    return Loaded(RescoreResponse.of(queries.rescore_view(started)))


@resolves("Mutation.setRescoreBudget", "updateRescoreBudget", 5)
def set_rescore_budget(request: Request, _: None, run_id: str, rescore_id: str, max_budget_usd: float) -> Loaded:
    wanted = parse(UpdateRescoreBudget, {"maxBudgetUsd": max_budget_usd}, "")
    raised = start.raise_budget(request.workspace, run_id, rescore_id, wanted.max_budget_usd, request.now)
    return Loaded(RescoreResponse.of(queries.rescore_view(raised)))
