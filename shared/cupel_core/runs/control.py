"""User control of a run: pause, resume and cancel it.

Each is one transition of the run's state table. Workers and the dispatcher act on the new state.
"""

from datetime import datetime
from typing import Any

from cupel_core.base.errors import Conflict
from cupel_core.base.messages import RunRef
from cupel_core.budgets import workspace_budgets
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, Run, RunStatus
from cupel_core.runs import dispatch
from cupel_core.store import budgets, governor, runs

_NOT_PAUSED: dict[str, Any] = {"pause_reason": None, "pause_cause": None, "period_pause": None}


def pause(workspace: str, run_id: str, now: datetime, reason: PauseReason = PauseReason.USER) -> Run:
    """Pause a run. No new model call starts after 5 s, and conversations in flight are recorded. A run that Cupel has
    paused becomes paused by the user, so that no repair resumes it. Any other paused run is returned unchanged. Raise
    Conflict for a run that is neither PENDING, RUNNING nor PAUSED."""
    run = runs.get(RunRef(workspace, run_id))
    is_users = run.pause_reason is PauseReason.USER
    if run.status is RunStatus.PAUSED and (is_users or reason is not PauseReason.USER):
        return run
    # The cause of an earlier pause remains: resuming the run closes the breaker of its model.
    return _steer(RunRef(workspace, run_id), Action.PAUSE, RunStatus.PAUSED, now, pause_reason=reason)


def resume(workspace: str, run_id: str, now: datetime, *, fencing_token: int | None = None) -> Run:
    """Resume a paused run and dispatch the probes that its barrier is missing. Raise Conflict if it is not paused, or
    its budget or the workspace's is used up. The model whose refusal paused the run may be called again. With
    `fencing_token`, the pause must be the one of this token."""
    run = runs.get(RunRef(workspace, run_id))
    check_affordable(run, run.budget, now)
    return resume_unchecked(run, now, fencing_token=fencing_token)


def resume_unchecked(
    run: Run, now: datetime, *, fencing_token: int | None = None, budget: RunBudget | None = None
) -> Run:
    """Resume a run without checking its budgets. Its workers pause it if they are used up. `budget` is a new one."""
    if run.pause_cause is not None:
        model = run.pause_cause.model
        governor.reset_breaker(run.workspace, model.partition("/")[0], model)
    changes: dict[str, Any] = {**_NOT_PAUSED, "fencing_token": fencing_token}
    if budget is not None:
        changes.update(budget=budget, event_data={"maxBudgetUsd": budget.max_usd})
    resumed = _steer(RunRef(run.workspace, run.id), Action.RESUME, RunStatus.RUNNING, now, **changes)
    dispatch.enqueue(resumed)
    return resumed


def check_affordable(run: Run, budget: RunBudget | None, now: datetime) -> None:
    """Raise Conflict if `budget` or the workspace's budget has too little left for a paused run."""
    if run.status is not RunStatus.PAUSED:
        return
    shortage = budget and budget.shortage(budgets.get(RunRef(run.workspace, run.id)), run.needed_nano_usd)
    if shortage is None:
        shortage = workspace_budgets.shortage(run.workspace, run.needed_nano_usd, now)
    if shortage is not None:
        raise Conflict(f"the run cannot resume: {shortage}")


def cancel(workspace: str, run_id: str, now: datetime) -> Run:
    return _steer(RunRef(workspace, run_id), Action.CANCEL, RunStatus.CANCELLED, now, completed_at=now, **_NOT_PAUSED)


def _steer(ref: RunRef, action: Action, target: RunStatus, now: datetime, **changes: Any) -> Run:
    """Return the run after the transition, or unchanged if it has the target status already."""
    try:
        return runs.transition(ref, action, now, **changes)
    except IllegalTransition as refusal:
        if refusal.status is target:
            return runs.get(ref)
        raise Conflict(str(refusal)) from None
