"""Evals and their runs."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.evals import CreateEval, EvalResponse, UpdateEval
from cupel_core.contract.run_requests import CreateEvalRun, EstimateEvalRun
from cupel_core.domain.resources.evals import Eval
from cupel_core.domain.runs.spec import EvalRunSpec
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.graphql.inputs import check_limit, check_offset
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.lists import first_items
from cupel_core.interfaces.graphql.resolvers.run_changes import start_spec, to_estimate
from cupel_core.interfaces.graphql.resolvers.runs import runs_of
from cupel_core.resources import evals
from cupel_core.runs.estimate_requests import estimate
from cupel_core.runs.eval_runs import eval_run_spec
from cupel_core.runs.spec import spec_to_text


@resolves("Query.eval", "getEval")
def eval_(request: Request, _: None, eval_id: str) -> Loaded | None:
    try:
        return _loaded(evals.get(request.workspace, eval_id))
    except NotFound:
        return None


@resolves("Query.evals", "listEvals")
def list_evals(request: Request, _: None, limit: int, offset: int) -> Page[Loaded]:
    found = first_items(
        lambda size, cursor: evals.list_evals(request.workspace, size, cursor),
        check_limit(limit),
        check_offset(offset),
    )
    return found.map(_loaded)


def _loaded(stored: Eval) -> Loaded:
    return Loaded(EvalResponse.of(stored))


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


@resolves("Mutation.createEval", "createEval", 5)
def create_eval(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    return _loaded(evals.create(request.workspace, parse(CreateEval, body).spec(), request.now))


@resolves("Mutation.updateEval", "updateEval", 5)
def update_eval(request: Request, _: None, eval_id: str, body: dict[str, Any]) -> Loaded:
    fields = parse(UpdateEval, body).fields()
    return _loaded(evals.update(request.workspace, eval_id, fields, request.now, UNCONDITIONAL))


@resolves("Mutation.deleteEval", "deleteEval", 5)
def delete_eval(request: Request, _: None, eval_id: str) -> bool:
    evals.delete(request.workspace, eval_id, request.now)
    return True


@resolves("Mutation.startEvalRun", "createEvalRun", 20)
def start_eval_run(request: Request, _: None, eval_id: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    options = parse(CreateEvalRun, body or {}).options()
    requested = spec_to_text(EvalRunSpec(eval_id, options))
    spec = eval_run_spec(request.workspace, eval_id, options)
    return start_spec(request, spec, request.idempotency_key, requested)


@resolves("Query.estimateEvalRun", "estimateEvalRun", 20)
def estimate_eval_run(request: Request, _: None, eval_id: str, body: dict[str, Any] | None = None) -> Loaded:
    spec = eval_run_spec(request.workspace, eval_id, parse(EstimateEvalRun, body or {}).options())
    return to_estimate(estimate(request.workspace, spec, request.now))
