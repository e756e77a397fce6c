"""Control of a run: pause, resume, cancel, retry, expand, and its budget. Changes return the state afterwards."""

from cupel_core.contract.budgets import RunBudgetResponse, UpdateRunBudget
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Replay, ToolGroup, operation
from cupel_core.contract.run_requests import EstimateExpansion, EstimateRetry, ExpandRun, RetryRun
from cupel_core.contract.runs import RunResponse, StoppedRunResponse
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import budgets, control, progress, queries


@operation(
    "POST /v1/runs/{run_id}/pause",
    "Pause a run: start no new model calls",
    role=MEMBER,
    returns="The paused run",
    is_repeatable=True,
    tool=AsTool(ToolGroup.RUNS, "id status pauseReason progress callsInFlight", max_kb=1),
)
def pause_run(call: Call, run_id: str) -> StoppedRunResponse:
    control.pause(call.workspace, run_id, call.now)
    return _stopped(call, run_id)


@operation(
    "POST /v1/runs/{run_id}/resume",
    "Resume a paused run",
    role=MEMBER,
    returns="The resumed run",
    tool=AsTool(ToolGroup.RUNS, "id status pauseReason progress", max_kb=1, calls_models=True),
)
def resume_run(call: Call, run_id: str) -> RunResponse:
    control.resume(call.workspace, run_id, call.now)
    return _current(call, run_id)


@operation(
    "POST /v1/runs/{run_id}/cancel",
    "Cancel a run; keep the transcripts it has",
    role=MEMBER,
    returns="The cancelled run",
    is_repeatable=True,
    tool=AsTool(
        ToolGroup.RUNS, "id status pauseReason progress callsInFlight", is_default=True, max_kb=1, destroys=True
    ),
)
def cancel_run(call: Call, run_id: str) -> StoppedRunResponse:
    control.cancel(call.workspace, run_id, call.now)
    return _stopped(call, run_id)


@operation(
    "POST /v1/runs/{run_id}/retry",
    "Retry probes that ended in an error: all of them, those of one model, or one",
    role=MEMBER,
    returns="The run",
    location="/v1/runs/{run_id}",
    replay=Replay.CREATED,
    tool=AsTool(ToolGroup.RUNS, "id status pauseReason progress", max_kb=1, calls_models=True),
)
def retry_run(call: Call, run_id: str, body: RetryRun = with_defaults(RetryRun)) -> RunResponse:
    from cupel_core.runs import continuation

    continuation.retry(call.workspace, run_id, call.now, **dict(body))
    return _current(call, run_id)


@operation(
    "POST /v1/runs/{run_id}/retry/estimate",
    "Estimate what a retry of errored probes would cost and how long it would take",
    role=VIEWER,
    returns="The estimate",
    is_repeatable=True,
    tool=AsTool(ToolGroup.RUNS, "jobCount usd seconds basis unpriced confirmableUsd budget missingAccess", max_kb=3),
)
def estimate_retry(call: Call, run_id: str, body: EstimateRetry = with_defaults(EstimateRetry)) -> EstimateResponse:
    """Checks all that a retry checks, and writes nothing."""
    from cupel_core.runs import continuation

    found = continuation.estimate_retry(call.workspace, run_id, call.now, **dict(body))
    return EstimateResponse.of(found.estimate, price_list_version(), found.fit)


@operation(
    "POST /v1/runs/{run_id}/expand",
    "Add scenarios to a sampled run by raising its sample percentage",
    role=MEMBER,
    returns="The expanded run",
    location="/v1/runs/{run_id}",
    replay=Replay.CREATED,
    tool=AsTool(ToolGroup.RUNS, "id status pauseReason progress", max_kb=1, calls_models=True),
)
def expand_run(call: Call, run_id: str, body: ExpandRun) -> RunResponse:
    from cupel_core.runs import continuation

    percentage, confirmed_usd = body.sample_percentage, body.confirmed_usd
    continuation.expand(call.workspace, run_id, percentage, call.now, confirmed_usd=confirmed_usd)
    return _current(call, run_id)


@operation(
    "POST /v1/runs/{run_id}/expand/estimate",
    "Estimate what the scenarios that an expansion adds would cost, and how long they would take",
    role=VIEWER,
    returns="The estimate",
    is_repeatable=True,
    tool=AsTool(ToolGroup.RUNS, "jobCount usd seconds basis unpriced confirmableUsd budget missingAccess", max_kb=3),
)
def estimate_expansion(call: Call, run_id: str, body: EstimateExpansion) -> EstimateResponse:
    """Checks all that an expansion checks, and writes nothing."""
    from cupel_core.runs import continuation

    found = continuation.estimate_expansion(call.workspace, run_id, body.sample_percentage, call.now)
    return EstimateResponse.of(found.estimate, price_list_version(), found.fit)


@operation(
    "GET /v1/runs/{run_id}/budget",
    "Get what is used of a run's budget, and by whom",
    role=VIEWER,
    returns="The budget with its account; 404 for a run without one",
)
def get_run_budget(call: Call, run_id: str) -> RunBudgetResponse:
    return RunBudgetResponse.of(budgets.get_budget(call.workspace, run_id))


@operation(
    "PATCH /v1/runs/{run_id}/budget",
    "Raise or lower a run's budget",
    role=MEMBER,
    returns="The changed budget",
    tool=AsTool(
        ToolGroup.RUNS,
        "runId status pauseReason maxBudgetUsd spentUsd reservedUsd availableUsd",
        name="set_run_budget",
        max_kb=1,
        calls_models=True,
    ),
)
def update_run_budget(call: Call, run_id: str, body: UpdateRunBudget) -> RunBudgetResponse:
    """A run that is paused because of its budget resumes if it can continue with the new one."""
    changed = budgets.change_budget(call.workspace, run_id, body.max_budget_usd, resume=body.resume, now=call.now)
    return RunBudgetResponse.of(changed)


def _stopped(call: Call, run_id: str) -> StoppedRunResponse:
    now = call.now
    view = queries.get_run(call.workspace, run_id, now)
    return StoppedRunResponse.of(view, calls_in_flight=progress.count_in_flight(view.run, now))


def _current(call: Call, run_id: str) -> RunResponse:
    return RunResponse.of(queries.get_run(call.workspace, run_id, call.now))
