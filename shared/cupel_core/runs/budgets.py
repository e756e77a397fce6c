"""The budget of a run: what it starts with, and raising or lowering it later."""

from datetime import datetime

from cupel_core.domain.budgets.confirmation import confirmable_usd, needs_confirmation
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.batches import Batch
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, Run, RunEventType, RunStatus
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.views import BudgetView
from cupel_core.errors import ConfirmationRequired, Conflict, Invalid, NotFound
from cupel_core.messages import RunRef
from cupel_core.runs import control
from cupel_core.runs.estimates import estimate_of, finishing_usd
from cupel_core.store import budgets, runs
from cupel_core.store.snapshots import Snapshot

_NO_BUDGET = "the run has no budget: it was started without maxBudgetUsd"


def initial_budget(spec: RunSpec, run: Run, snapshot: Snapshot) -> RunBudget | None:
    """The budget that a run starts with. Raises what `check_estimate` raises."""
    if spec.max_budget_usd is None:
        return None
    check_estimate(spec, estimate_of(run, snapshot))
    return RunBudget(spec.max_budget_usd, finishing_usd(run, snapshot), spec.allow_unpriced)


def check_estimate(spec: RunSpec | Batch, estimate: RunEstimate) -> None:
    """Raises Invalid if the budget could not limit the calls of a model, because its price is unknown, and
    ConfirmationRequired for a run that is expected to cost more than its budget, unless the caller has agreed."""
    if estimate.unpriced and not spec.allow_unpriced:
        raise Invalid.field(
            "allowUnpriced",
            f"must be true, or a price must be set: the price of {', '.join(estimate.unpriced)} is unknown, so the "
            "budget would not limit its calls",
        )
    if spec.max_budget_usd is not None and needs_confirmation(estimate.usd, spec.max_budget_usd, spec.confirmed_usd):
        raise ConfirmationRequired(_question(estimate, spec.max_budget_usd), estimate)


def _question(estimate: RunEstimate, max_usd: float) -> str:
    usd = estimate.usd
    return (
        f"the run is expected to cost ${usd.expected:.6g} (from ${usd.low:.6g} to ${usd.high:.6g}), more than its "
        f"budget of ${max_usd:g}, so it would be paused before its end; repeat the request with confirmedUsd of at "
        f"least {confirmable_usd(usd)} to start it"
    )


def get_budget(workspace: str, run_id: str) -> BudgetView:
    """Raises NotFound for an unknown run, and for one without a budget."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if run.budget is None:
        raise NotFound(_NO_BUDGET)
    return BudgetView(run, run.budget, budgets.get(ref))


def change_budget(workspace: str, run_id: str, max_usd: float, *, resume: bool, now: datetime) -> BudgetView:
    """Raise or lower the limit. A run that was paused because of it resumes if it can continue.

    Without `resume`, it stays paused as if a user had paused it. Raises Conflict for a run without a budget.
    """
    ref = RunRef(workspace, run_id)
    run, account = runs.get(ref), budgets.get(ref)
    budget = _require_budget(run).with_limit(max_usd)
    was_exhausted = run.status is RunStatus.PAUSED and run.pause_reason == PauseReason.BUDGET
    if was_exhausted and resume and budget.can_continue(account):
        run = control.resume(workspace, run_id, now, fencing_token=run.fencing_token, budget=budget)
    elif was_exhausted and not resume:
        run = _pause_by_user(run, budget, now)
    else:
        data: dict[str, object] = {"changed": ["maxBudgetUsd"], "maxBudgetUsd": max_usd}
        run = runs.change_budget(ref, lambda before: before.with_limit(max_usd), RunEventType.UPDATED, data, now)
    return BudgetView(run, _require_budget(run), account)


def _pause_by_user(run: Run, budget: RunBudget, now: datetime) -> Run:
    ref, token = RunRef(run.workspace, run.id), run.fencing_token
    try:
        return runs.transition(
            ref, Action.PAUSE, now, fencing_token=token, budget=budget, pause_reason=PauseReason.USER
        )
    except IllegalTransition as refusal:
        raise Conflict(str(refusal)) from None


def _require_budget(run: Run) -> RunBudget:
    if run.budget is None:
        raise Conflict(_NO_BUDGET)
    return run.budget
