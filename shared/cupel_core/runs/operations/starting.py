"""Runs: create them, estimate what they cost, and run them again.

The module is separate from reading, because the models of these requests take a twentieth of a cold start.
"""

from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Replay, ToolGroup, operation
from cupel_core.contract.run_requests import CreateRun, EstimateRun, RerunRun, RunStartedResponse
from cupel_core.domain.runs.spec import RequestedRun
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.start_requests import start_requested
from cupel_core.runs.starters import started_by


@operation(
    "POST /v1/runs",
    "Start a run",
    role=MEMBER,
    returns="The run, and the number of its probes",
    status=201,
    location="/v1/runs/{run.id}",
    replay=Replay.STARTED,
    tool=AsTool(
        ToolGroup.RUNS,
        "run.id run.status jobCount estimate.usd",
        name="start_run",
        advice="Unless it is free, send max_budget_usd or confirmed_usd: ask the user first. Follow it with get_run.",
        is_default=True,
        max_kb=2,
        calls_models=True,
    ),
)
def create_run(call: Call, body: CreateRun) -> RunStartedResponse:
    return _start(call, body.spec())


@operation(
    "POST /v1/runs/estimate",
    "Estimate what a run would cost and how long it would take",
    role=VIEWER,
    returns="The estimate",
    is_repeatable=True,
    tool=AsTool(
        ToolGroup.RUNS,
        "jobCount usd seconds basis unpriced confirmableUsd budget missingAccess",
        max_kb=3,
    ),
)
def estimate_run(call: Call, body: EstimateRun) -> EstimateResponse:
    """Takes the body of a start, checks all that a start checks, and writes nothing."""
    from cupel_core.runs.estimate_requests import estimate

    estimated = estimate(call.workspace, body.spec(), call.now)
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)


@operation(
    "POST /v1/runs/{run_id}/rerun",
    "Start a run that repeats another one, with other models, repeats or configuration if given",
    role=MEMBER,
    returns="The new run, and the number of its probes",
    status=201,
    location="/v1/runs/{run.id}",
    replay=Replay.STARTED,
)
def rerun_run(call: Call, run_id: str, body: RerunRun = with_defaults(RerunRun)) -> RunStartedResponse:
    """Has the same definition version, scenarios and personas, even if they were changed or deleted since."""
    return _start(call, body.spec(run_id))


def _start(call: Call, requested: RequestedRun) -> RunStartedResponse:
    caller = started_by(call.caller)
    started = start_requested(call.workspace, requested, call.idempotency_key, call.now, caller)
    return RunStartedResponse.of(*started, price_list_version())
