"""Control of a run: pause, resume, cancel, retry, expand, and its budget. Changes return what it is afterwards."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.budgets import RunBudgetResponse, UpdateRunBudget
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_requests import EstimateExpansion, EstimateRetry, ExpandRun, RetryRun
from cupel_core.contract.runs import RunResponse, StoppedRunResponse
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import budgets, control, progress, queries

router = OperationRouter()


@router.operation("pauseRun")
def pause_run(run_id: str) -> StoppedRunResponse:
    control.pause(router.workspace, run_id, utc_now())
    return _stopped(run_id)


@router.operation("resumeRun")
def resume_run(run_id: str) -> RunResponse:
    control.resume(router.workspace, run_id, utc_now())
    return _current(run_id)


@router.operation("cancelRun")
def cancel_run(run_id: str) -> StoppedRunResponse:
    control.cancel(router.workspace, run_id, utc_now())
    return _stopped(run_id)


@router.operation("retryRun")
def retry_run(run_id: str, body: Annotated[RetryRun, Body()] = with_defaults(RetryRun)) -> RunResponse:
    from cupel_core.runs import continuation

    continuation.retry(router.workspace, run_id, utc_now(), **dict(body))
    return _current(run_id)


@router.operation("estimateRetry")
def estimate_retry(
    run_id: str, body: Annotated[EstimateRetry, Body()] = with_defaults(EstimateRetry)
) -> EstimateResponse:
    from cupel_core.runs import continuation

    found = continuation.estimate_retry(router.workspace, run_id, utc_now(), **dict(body))
    return EstimateResponse.of(found.estimate, price_list_version(), found.fit)


@router.operation("expandRun")
def expand_run(run_id: str, body: ExpandRun) -> RunResponse:
    from cupel_core.runs import continuation

    percentage, confirmed_usd = body.sample_percentage, body.confirmed_usd
    continuation.expand(router.workspace, run_id, percentage, utc_now(), confirmed_usd=confirmed_usd)
    return _current(run_id)


@router.operation("estimateExpansion")
def estimate_expansion(run_id: str, body: EstimateExpansion) -> EstimateResponse:
    from cupel_core.runs import continuation

    found = continuation.estimate_expansion(router.workspace, run_id, body.sample_percentage, utc_now())
    return EstimateResponse.of(found.estimate, price_list_version(), found.fit)


@router.operation("getRunBudget")
def get_run_budget(run_id: str) -> RunBudgetResponse:
    return RunBudgetResponse.of(budgets.get_budget(router.workspace, run_id))


@router.operation("updateRunBudget")
def update_run_budget(run_id: str, body: UpdateRunBudget) -> RunBudgetResponse:
    changed = budgets.change_budget(router.workspace, run_id, body.max_budget_usd, resume=body.resume, now=utc_now())
    return RunBudgetResponse.of(changed)


def _stopped(run_id: str) -> StoppedRunResponse:
    now = utc_now()
    view = queries.get_run(router.workspace, run_id, now)
    return StoppedRunResponse.of_stopped(view, progress.count_in_flight(view.run, now))


def _current(run_id: str) -> RunResponse:
    return RunResponse.of(queries.get_run(router.workspace, run_id, utc_now()))
