from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Replay, ToolGroup, operation
from cupel_core.contract.run_requests import RunStartedResponse
from cupel_core.contract.scale_runs import CreateScaleRun, EstimateScaleRun
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.starters import started_by


@operation(
    "POST /v1/scale-runs",
    "Start a scale run: many conversations with one system prompt",
    role=MEMBER,
    returns="The run, and the number of its probes",
    tag="runs",
    status=201,
    location="/v1/runs/{run.id}",
    replay=Replay.STARTED,
    tool=AsTool(
        ToolGroup.RUNS,
        "run.id run.status jobCount estimate.usd",
        name="start_scale_run",
        advice="Unless it is free, send max_budget_usd or confirmed_usd: ask the user first. Follow it with get_run.",
        max_kb=2,
        calls_models=True,
    ),
)
def create_scale_run(call: Call, body: CreateScaleRun) -> RunStartedResponse:
    """Start a run of a definition that is found by its content, or created. Default evaluators check each conversation;
    see docs/agents.md."""
    from cupel_core.runs.scaling import start_scale_run  # Other requests do not need it.

    request = f"createScaleRun\n{body.model_dump_json(exclude_unset=True)}"
    caller, now = call.caller, call.now
    started = start_scale_run(call.workspace, body.scale_run(), request, call.idempotency_key, now, started_by(caller))
    return RunStartedResponse.of(*started, price_list_version())


@operation(
    "POST /v1/scale-runs/estimate",
    "Estimate what a scale run would cost and how long it would take",
    role=VIEWER,
    returns="The estimate",
    tag="runs",
    is_repeatable=True,
)
def estimate_scale_run(call: Call, body: EstimateScaleRun) -> EstimateResponse:
    """Takes the body of a start, checks all that a start checks, and writes nothing."""
    from cupel_core.runs.estimate_requests import estimate_scale_run

    estimated = estimate_scale_run(call.workspace, body.scale_run(), call.now)
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)
