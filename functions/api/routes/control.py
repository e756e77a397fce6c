"""Control of a run: pause, resume, cancel, retry, expand, and its budget. Each returns what it is afterwards."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.routing import OperationRouter
from cupel_core.clock import utc_now
from cupel_core.contract.budgets import RunBudgetResponse, UpdateRunBudget
from cupel_core.contract.runs import ExpandRun, RetryRun, RunResponse
from cupel_core.runs import budgets, control, queries

router = OperationRouter()


@router.operation("pauseRun")
def pause_run(run_id: str) -> RunResponse:
    control.pause(router.workspace, run_id, utc_now())
    return _current(run_id)


@router.operation("resumeRun")
def resume_run(run_id: str) -> RunResponse:
    control.resume(router.workspace, run_id, utc_now())
    return _current(run_id)


@router.operation("cancelRun")
def cancel_run(run_id: str) -> RunResponse:
    control.cancel(router.workspace, run_id, utc_now())
    return _current(run_id)


@router.operation("retryRun")
def retry_run(run_id: str, body: Annotated[RetryRun, Body()] = RetryRun()) -> RunResponse:
    control.retry(router.workspace, run_id, utc_now(), model=body.model, probe_index=body.probe_index)
    return _current(run_id)


@router.operation("expandRun")
def expand_run(run_id: str, body: ExpandRun) -> RunResponse:
    control.expand(router.workspace, run_id, body.sample_percentage, utc_now())
    return _current(run_id)


@router.operation("getRunBudget")
def get_run_budget(run_id: str) -> RunBudgetResponse:
    return RunBudgetResponse.of(budgets.get_budget(router.workspace, run_id))


@router.operation("updateRunBudget")
def update_run_budget(run_id: str, body: UpdateRunBudget) -> RunBudgetResponse:
    changed = budgets.change_budget(router.workspace, run_id, body.max_budget_usd, resume=body.resume, now=utc_now())
    return RunBudgetResponse.of(changed)


def _current(run_id: str) -> RunResponse:
    return RunResponse.of(queries.get_run(router.workspace, run_id, utc_now()))
