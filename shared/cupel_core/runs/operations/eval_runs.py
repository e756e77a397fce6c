from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.operation import MEMBER, VIEWER, Call, Replay, operation
from cupel_core.contract.run_requests import CreateEvalRun, CreatePlaygroundRun, EstimateEvalRun, RunStartedResponse
from cupel_core.domain.runs.spec import EvalRunSpec, RequestedRun
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.start_requests import run_spec, start_requested
from cupel_core.runs.starters import started_by


@operation(
    "POST /v1/evals/{eval_id}/runs",
    "Start a run of an eval",
    role=MEMBER,
    returns="The run, and the number of its probes",
    status=201,
    location="/v1/runs/{run.id}",
    replay=Replay.STARTED,
)
def create_eval_run(call: Call, eval_id: str, body: CreateEvalRun = with_defaults(CreateEvalRun)) -> RunStartedResponse:
    return _start(call, EvalRunSpec.of(eval_id, body.settings()))


@operation(
    "POST /v1/evals/{eval_id}/runs/estimate",
    "Estimate what a run of an eval would cost and how long it would take",
    role=VIEWER,
    returns="The estimate",
    is_repeatable=True,
)
def estimate_eval_run(
    call: Call, eval_id: str, body: EstimateEvalRun = with_defaults(EstimateEvalRun)
) -> EstimateResponse:
    """Takes the body of a start, checks all that a start checks, and writes nothing."""
    from cupel_core.runs.estimate_requests import estimate

    spec = run_spec(call.workspace, EvalRunSpec.of(eval_id, body.settings()))
    estimated = estimate(call.workspace, spec, call.now)
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)


@operation(
    "POST /v1/playground/runs",
    "Start a playground run: one scenario against one target",
    role=MEMBER,
    returns="The run, and the number of its probes",
    tag="evals",
    status=201,
    location="/v1/runs/{run.id}",
    replay=Replay.STARTED,
)
def create_playground_run(call: Call, body: CreatePlaygroundRun) -> RunStartedResponse:
    return _start(call, body.spec())


def _start(call: Call, requested: RequestedRun) -> RunStartedResponse:
    caller = started_by(call.caller)
    started = start_requested(call.workspace, requested, call.idempotency_key, call.now, caller)
    return RunStartedResponse.of(*started, price_list_version())
