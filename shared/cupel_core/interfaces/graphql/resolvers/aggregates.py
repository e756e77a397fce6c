from typing import Any

from cupel_core.analysis import aggregation
from cupel_core.contract.aggregates import AggregateRowResponse, AggregateRuns
from cupel_core.interfaces.graphql.inputs import check_limit, parse
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Query.aggregate", "getRunAnalysis", 500, item_cost=2)
def aggregate(request: Request, _: None, body: dict[str, Any], limit: int) -> dict[str, Any]:
    spec = parse(AggregateRuns, body).spec()
    found = aggregation.aggregate(request.workspace, spec)
    rows = [Loaded(AggregateRowResponse.of(row, spec)) for row in found[: check_limit(limit)]]
    return {"rows": rows, "totalRows": len(found)}
