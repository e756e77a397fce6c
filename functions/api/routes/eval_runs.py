"""Runs of evals, and playground runs: one scenario against one target."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.parameters import IdempotencyKey
from api.routing import OperationRouter
from cupel_core.access.starters import started_by
from cupel_core.clock import utc_now
from cupel_core.contract.runs import CreateEvalRun, CreatePlaygroundRun, RunStartedResponse
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.runs import start
from cupel_core.runs.eval_runs import eval_run_spec, playground_run_spec

router = OperationRouter()


@router.operation("createEvalRun", status=201)
def create_eval_run(
    eval_id: str, body: Annotated[CreateEvalRun, Body()] = CreateEvalRun(), idempotency_key: IdempotencyKey = None
) -> RunStartedResponse:
    workspace = router.workspace
    return _start(workspace, eval_run_spec(workspace, eval_id, body.options()), idempotency_key)


@router.operation("createPlaygroundRun", status=201)
def create_playground_run(body: CreatePlaygroundRun, idempotency_key: IdempotencyKey = None) -> RunStartedResponse:
    workspace = router.workspace
    return _start(workspace, playground_run_spec(workspace, body.playground(), body.options()), idempotency_key)


def _start(workspace: str, spec: RunSpec, idempotency_key: str | None) -> RunStartedResponse:
    started = start.start(workspace, spec, idempotency_key, utc_now(), started_by(router.caller))
    return RunStartedResponse.of(*started)
