"""Runs of evals, and playground runs: one scenario against one target."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_requests import CreateEvalRun, CreatePlaygroundRun, EstimateEvalRun, RunStartedResponse
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import start
from cupel_core.runs.eval_runs import eval_run_spec, playground_run_spec
from cupel_core.runs.spec import spec_to_text
from cupel_core.workspace.access.starters import started_by

router = OperationRouter()


@router.operation("createEvalRun", status=201)
def create_eval_run(
    eval_id: str, body: Annotated[CreateEvalRun, Body()] = with_defaults(CreateEvalRun)
) -> RunStartedResponse:
    workspace, options = router.workspace, body.options()
    requested = spec_to_text(EvalRunSpec(eval_id, options))
    return _start(workspace, eval_run_spec(workspace, eval_id, options), requested)


@router.operation("estimateEvalRun")
def estimate_eval_run(
    eval_id: str, body: Annotated[EstimateEvalRun, Body()] = with_defaults(EstimateEvalRun)
) -> EstimateResponse:
    from cupel_core.runs.estimate_requests import estimate

    spec = eval_run_spec(router.workspace, eval_id, body.options())
    estimated = estimate(router.workspace, spec, utc_now())
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)


@router.operation("createPlaygroundRun", status=201)
def create_playground_run(body: CreatePlaygroundRun) -> RunStartedResponse:
    workspace = router.workspace
    return _start(workspace, playground_run_spec(workspace, body.playground(), body.options()))


def _start(workspace: str, spec: RunSpec, requested: str | None = None) -> RunStartedResponse:
    caller = started_by(router.caller)
    started = start.start(workspace, spec, router.idempotency_key, utc_now(), caller, requested)
    return RunStartedResponse.of(*started, price_list_version())
