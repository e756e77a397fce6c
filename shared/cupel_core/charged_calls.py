"""The calls of workflow tasks and jobs, which the budget of their run pays for if it has one."""

import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.patient_calls import PatientCalls
from cupel_core.budgets.pool import AllowancePool
from cupel_core.budgets.reservations import SHORTAGE_SECONDS
from cupel_core.domain.runs.run import Run
from cupel_core.messages import RunRef
from cupel_core.providers.completion import Attempt
from cupel_core.run_budgets import TableAccount
from cupel_core.slice_graders import GraderCalls, spare_seconds


@asynccontextmanager
async def charged_calls(
    run: Run,
    attempt: Attempt,
    seconds_left: Callable[[], float],
) -> AsyncIterator[GraderCalls]:
    """The calls, charged to the budget of the run. What follows its probes may use all that is left of it."""
    if run.budget is None:
        yield GraderCalls(attempt)
        return
    worker_id, ends_at = uuid.uuid4().hex[:12], time.time() + seconds_left()
    async with AllowancePool(worker_id, TableAccount, ends_at=ends_at) as pool:
        allowance = pool.allowance(RunRef(run.workspace, run.id), run.budget.limit)

        def may_wait() -> bool:
            return spare_seconds(seconds_left) > SHORTAGE_SECONDS

        calls = PatientCalls(ChargedCalls(allowance, attempt), run.budget.max_usd, may_wait)
        yield GraderCalls(calls.attempt, calls.embed)
