from typing import Any

from cupel_core.base.paging import Page, fill_page
from cupel_core.contract.rescores import RescoreResponse, RescoreResultResponse
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.runs.rescoring import queries


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
