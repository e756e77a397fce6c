"""The calls of workflow tasks, jobs and API requests, charged to the budgets of their run and of their workspace."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from cupel_core.accounts.leases import LeasePool
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charging import ChargedCalls, Recheck, allow
from cupel_core.budgets.patient_calls import PatientCalls
from cupel_core.budgets.pool import AllowancePool
from cupel_core.budgets.reservations import SHORTAGE_SECONDS
from cupel_core.budgets.slice_graders import GraderCalls, spare_seconds
from cupel_core.budgets.workspace_budgets import BudgetKey, key_of_run, open_account
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import Rescore
from cupel_core.providers.completion import Attempt, complete
from cupel_core.store import evaluation_settings, rescores, runs
from cupel_core.store.budgets import GenerationRef, RescoreRef

GENERATION_WAIT_SECONDS = 1.0
"""A call with too little left retries after this time. Only calls of the same worker can free money for it."""


@asynccontextmanager
async def charged_calls(
    run: Run,
    attempt: Attempt,
    seconds_left: Callable[[], float],
    leases: LeasePool,
    rescore: Rescore | None = None,
) -> AsyncIterator[GraderCalls]:
    """Yield the calls that follow the probes of a run. They may use the rest of its budget, and use slots of these
    leases. The calls of a rescore with a budget of its own use that one, and raise BudgetShortage once it is used
    up."""
    limits = await asyncio.to_thread(evaluation_settings.get_budgets, run.workspace)
    key, max_usd = key_of_run(run, limits, time.time()), run.budget.max_usd if run.budget else None
    has_own = rescore is not None and rescore.max_budget_usd is not None
    if rescore is not None and has_own:
        ref, max_usd = RunRef(run.workspace, run.id), rescore.max_budget_usd
        day = limits.day_at(time.time()) if limits.is_set else None
        key = BudgetKey(run.workspace, ref, RescoreRef(ref, rescore.id), day)

    def may_wait() -> bool:
        return spare_seconds(seconds_left) > SHORTAGE_SECONDS

    recheck = partial(leases.recheck, run.workspace)
    async with _charged(key, nano_usd(max_usd or 0.0), attempt, seconds_left, recheck) as charged:
        if charged is None:
            yield GraderCalls(attempt)
        else:
            read = partial(asyncio.to_thread, _read_max_usd, run, rescore if has_own else None)
            calls = PatientCalls(charged, max_usd, may_wait, read_max_usd=read, has_own_budget=has_own)
            yield GraderCalls(calls.attempt, calls.embed)


def _read_max_usd(run: Run, rescore: Rescore | None) -> float | None:
    ref = RunRef(run.workspace, run.id)
    try:
        if rescore is not None:
            return rescores.get(ref, rescore.id).max_budget_usd
        budget = runs.get(ref).budget
    except NotFound:
        return None
    return budget.max_usd if budget else None


@asynccontextmanager
async def workspace_calls(
    workspace: str, leases: LeasePool | None, attempt: Attempt = complete, *, seconds_left: Callable[[], float]
) -> AsyncIterator[Attempt]:
    """Yield calls that belong to no run, with slots of these leases if they need any. They raise BudgetShortage when
    the workspace's budgets do not allow one."""
    limits = await asyncio.to_thread(evaluation_settings.get_budgets, workspace)
    key = BudgetKey(workspace, None, None, limits.day_at(time.time())) if limits.is_set else None
    recheck = partial(leases.recheck, workspace) if leases is not None else allow
    async with _charged(key, 0, attempt, seconds_left, recheck) as charged:
        yield attempt if charged is None else charged.attempt


@asynccontextmanager
async def generation_calls(
    ref: GenerationRef, max_usd: float, leases: LeasePool, *, seconds_left: Callable[[], float]
) -> AsyncIterator[Attempt]:
    """Yield the calls of a generation of scenarios with a budget of its own, with slots of these leases. They wait for
    the unused reservations of earlier calls, and raise BudgetShortage once that budget is used up."""
    limits = await asyncio.to_thread(evaluation_settings.get_budgets, ref.workspace)
    key = BudgetKey(ref.workspace, None, ref, limits.day_at(time.time()) if limits.is_set else None)
    recheck = partial(leases.recheck, ref.workspace)
    async with _charged(key, nano_usd(max_usd), complete, seconds_left, recheck) as charged:
        if charged is None:
            raise ValueError("a generation with a budget of its own has an account")

        def may_wait() -> bool:
            return spare_seconds(seconds_left) > GENERATION_WAIT_SECONDS

        yield PatientCalls(charged, max_usd, may_wait, GENERATION_WAIT_SECONDS, has_own_budget=True).attempt


@asynccontextmanager
async def _charged(
    key: BudgetKey | None, limit: int, attempt: Attempt, seconds_left: Callable[[], float], recheck: Recheck
) -> AsyncIterator[ChargedCalls | None]:
    if key is None:
        yield None
        return
    worker_id, ends_at = uuid.uuid4().hex[:12], time.time() + seconds_left()
    async with AllowancePool(worker_id, open_account, ends_at=ends_at) as pool:
        yield ChargedCalls(pool.allowance(key, limit), attempt, recheck=recheck)
