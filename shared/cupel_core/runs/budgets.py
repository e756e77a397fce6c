from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from cupel_core.base.errors import ConfirmationRequired, Conflict, Invalid, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.budgets import workspace_budgets
from cupel_core.domain.budgets.confirmation import (
    BudgetFit,
    budget_fit,
    confirmable_usd,
    excess_reason,
    needs_confirmation,
    unpriced_message,
)
from cupel_core.domain.budgets.money import amount_text, limit_text, usd
from cupel_core.domain.budgets.periods import PERIODS, BudgetScope
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, Run, RunEventType, RunStatus
from cupel_core.domain.runs.settings import BudgetTerms
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.views import BudgetView
from cupel_core.runs import control
from cupel_core.runs.estimates import finishing_usd
from cupel_core.store import budgets, runs
from cupel_core.store.snapshots import Snapshot

_MAX_ATTEMPTS = 3
_NO_BUDGET = "the run has no budget: it was started without maxBudgetUsd"


class _Spendable(NamedTuple):
    usd: float
    budget: str


class BudgetedEstimate(NamedTuple):
    estimate: RunEstimate
    fit: BudgetFit
    missing_access: Mapping[str, str] = MappingProxyType({})
    """The reasons why providers cannot be called yet, by provider."""


def initial_budget(spec: RunSpec, run: Run, snapshot: Snapshot, estimate: RunEstimate) -> RunBudget | None:
    """Return the initial budget of a run. Raise what `check_estimate` raises."""
    check_estimate(run.workspace, spec, lambda: estimate, run.created_at)
    if spec.max_budget_usd is None:
        return None
    return budget_of(spec.max_budget_usd, finishing_usd(run, snapshot), estimate, allows_unpriced=spec.allow_unpriced)


def budget_of(max_usd: float, finish_usd: float, estimate: RunEstimate, *, allows_unpriced: bool) -> RunBudget:
    return RunBudget(
        max_usd,
        finish_usd,
        allows_unpriced,
        guarantee=estimate.guarantee,
        unlimited_targets=estimate.unlimited_targets,
    )


def check_estimate(
    workspace: str,
    spec: BudgetTerms,
    estimated: Callable[[], RunEstimate],
    now: datetime,
    what: str = "the run",
    runs_at_once: int = 1,
) -> None:
    """Check the estimated cost of a run that a budget limits, its own or the workspace's.

    Raise Invalid if that could not limit the calls of a model, because its price is unknown, or if the run's own budget
    cannot pay for a single call. Raise ConfirmationRequired if the run is expected to cost more than is left, unless
    the caller has agreed. `runs_at_once` divide the budget, and each needs enough left for its last call.
    """
    own = [] if (limit := spec.max_budget_usd) is None else [_Spendable(limit, f"its budget of {limit_text(limit)}")]
    spendable = _scarcest(workspace, own, now)
    if spendable is None:
        return
    estimate = estimated()
    if estimate.unpriced and not spec.allow_unpriced:
        raise Invalid.field("allowUnpriced", unpriced_message(estimate.unpriced))
    if limit is not None and (too_small := estimate.why_too_small(limit, runs_at_once)):
        raise Invalid.field("maxBudgetUsd", too_small)
    _check_cost(what, estimate, spendable, spec.confirmed_usd, runs_at_once)


def check_addition(
    what: str, run: Run, estimated: Callable[[], RunEstimate], confirmed_usd: float | None, now: datetime
) -> None:
    """Check the estimated cost of further probes of a run against what is left of its budget. The run keeps its models,
    so a caller who agreed to unknown prices at the start is not asked again."""
    own, left = [], _left_usd(run)
    if run.budget is not None and left is not None:
        limit = limit_text(run.budget.max_usd)
        own.append(_Spendable(left, f"the {amount_text(left)} that are left of its budget of {limit}"))
    spendable = _scarcest(run.workspace, own, now)
    if spendable is not None:
        _check_cost(what, estimated(), spendable, confirmed_usd)


def _check_cost(
    what: str, estimate: RunEstimate, spendable: _Spendable, confirmed_usd: float | None, runs_at_once: int = 1
) -> None:
    reserved, total = runs_at_once * estimate.reserved_usd, estimate.total_usd
    if not needs_confirmation(total, spendable.usd, confirmed_usd, reserved):
        return
    remedy = f"repeat the request with confirmedUsd of at least {confirmable_usd(total)} to start it"
    if needs_confirmation(estimate.usd, spendable.usd, None, reserved):
        reason = excess_reason(what, estimate.usd, reserved, spendable.usd, spendable.budget, runs_at_once)
        raise ConfirmationRequired(f"{reason}, so it would be paused before its end", estimate, remedy)
    reason = excess_reason(
        f"{what} with the trial of its revised prompt", total, reserved, spendable.usd, spendable.budget, runs_at_once
    )
    raise ConfirmationRequired(f"{reason}; the trial has a budget of its own, what the run costs", estimate, remedy)


def _left_usd(run: Run) -> float | None:
    if run.budget is None:
        return None
    return usd(max(0, budgets.get(RunRef(run.workspace, run.id)).available(run.budget.probe_limit)))


def fit_of(workspace: str, spec: BudgetTerms, estimate: RunEstimate, now: datetime) -> BudgetFit:
    own = {} if spec.max_budget_usd is None else {BudgetScope.RUN: spec.max_budget_usd}
    return _fit(workspace, own, estimate, spec.confirmed_usd, now)


def fit_of_addition(run: Run, estimate: RunEstimate, now: datetime) -> BudgetFit:
    left = _left_usd(run)
    return _fit(run.workspace, {} if left is None else {BudgetScope.RUN: left}, estimate, None, now)


def _fit(
    workspace: str,
    own: Mapping[BudgetScope, float],
    estimate: RunEstimate,
    confirmed_usd: float | None,
    now: datetime,
) -> BudgetFit:
    day, limits, account = workspace_budgets.get_use(workspace, now)
    available = {scope: account.available(scope, limits, day) for scope in PERIODS}
    left = {scope: usd(max(0, amount)) for scope, amount in available.items() if amount is not None}
    return budget_fit(estimate.total_usd, {**own, **left}, confirmed_usd, estimate.reserved_usd)


def _scarcest(workspace: str, own: list[_Spendable], now: datetime) -> _Spendable | None:
    budgets = [*own]
    if (left := workspace_budgets.left(workspace, now)) is not None:
        scope, left_usd = left[0], usd(max(0, left[1]))
        name = f"the {amount_text(left_usd)} that are left of the workspace's budget for the {scope}"
        budgets.append(_Spendable(left_usd, f"{name} ({workspace_budgets.FIELDS[scope]})"))
    return min(budgets, default=None)


def get_budget(workspace: str, run_id: str) -> BudgetView:
    """Return the budget. Raise NotFound for an unknown run, and for one without a budget."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if run.budget is None:
        raise NotFound(_NO_BUDGET)
    return BudgetView(run, run.budget, budgets.get(ref))


def change_budget(workspace: str, run_id: str, max_usd: float, *, resume: bool, now: datetime) -> BudgetView:
    """Raise or lower the limit. A run that was paused because of it resumes if it can continue. Without `resume`, a run
    that its own budget has paused counts as paused by a user from now on. Raise Conflict for a run without a budget. If
    the sweeper resumes the run meanwhile, the limit is changed all the same."""
    for _ in range(_MAX_ATTEMPTS):
        with suppress(runs.OutdatedToken):
            return _change_budget(RunRef(workspace, run_id), max_usd, resume=resume, now=now)
    raise RetryableError("the run is being changed by others; try again")


def _change_budget(ref: RunRef, max_usd: float, *, resume: bool, now: datetime) -> BudgetView:
    run, account = runs.get(ref), budgets.get(ref)
    budget = _require_budget(run).with_limit(max_usd)
    was_exhausted = run.status is RunStatus.PAUSED and run.pause_reason == PauseReason.BUDGET
    if was_exhausted and resume and _can_resume(run, budget, now):
        run = control.resume_unchecked(run, now, fencing_token=run.fencing_token, budget=budget)
    elif run.exhausted_budget is BudgetScope.RUN and not resume:
        run = _pause_by_user(run, budget, now)
    else:
        data: dict[str, object] = {"changed": ["maxBudgetUsd"], "maxBudgetUsd": max_usd}
        run = runs.change_budget(ref, lambda before: before.with_limit(max_usd), RunEventType.UPDATED, data, now)
    return BudgetView(run, _require_budget(run), account)


def _can_resume(run: Run, budget: RunBudget, now: datetime) -> bool:
    try:
        control.check_affordable(run, budget, now)
    except Conflict:
        return False
    return True


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
