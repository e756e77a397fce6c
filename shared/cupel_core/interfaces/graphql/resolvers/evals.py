from cupel_core.base.paging import Page
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.runs import runs_of


@resolves("Eval.definition", "getDefinition")
async def definition(request: Request, source: Loaded) -> Loaded | None:
    found: Loaded | None = await request.load.definition.load(source["definitionId"])
    return found


@resolves("Eval.runs", "listRuns")
def eval_runs(request: Request, source: Loaded, limit: int, status: str | None = None) -> Page[Loaded]:
    return runs_of(request, limit, status, eval_id=source["id"])


@resolves("Run.eval", "getEval")
async def run_eval(request: Request, source: Loaded) -> Loaded | None:
    if source["evalId"] is None:
        return None
    found: Loaded | None = await request.load.eval.load(source["evalId"])
    return found
