"""Estimates of what a run would cost. They check all that a start checks, and write nothing.

A key or an address that the workspace has not set yet does not prevent an estimate, which names it: people ask what a
run would cost before they have an account.
"""

from dataclasses import replace
from datetime import datetime
from math import inf

from cupel_core.accounts.keys import ModelChecks
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.scale_runs import ScaleRun
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.runs import scaling
from cupel_core.runs.budgets import BudgetedEstimate, fit_of
from cupel_core.runs.estimates import estimate_of
from cupel_core.runs.start import build_run
from cupel_core.store import snapshots


def estimate(workspace: str, spec: RunSpec, now: datetime) -> BudgetedEstimate:
    """Estimate a run. Raise what a start would raise now, except ConfirmationRequired and errors of missing keys."""
    checks = ModelChecks(workspace, tolerates_missing_access=True)
    estimated = build_run(workspace, replace(spec, confirmed_usd=inf), now, checks=checks).estimate
    return BudgetedEstimate(estimated, fit_of(workspace, spec, estimated, now), checks.missing_access)


def estimate_scale_run(workspace: str, scale_run: ScaleRun, now: datetime) -> BudgetedEstimate:
    checks = ModelChecks(workspace, tolerates_missing_access=True)
    estimated = scaling.estimate_scale_run(workspace, scale_run, now, checks)
    return BudgetedEstimate(estimated, fit_of(workspace, scale_run.settings, estimated, now), checks.missing_access)


def estimate_run_again(run: Run) -> RunEstimate:
    """Estimate a run that has started, at its own prices. Raise NotFound if its scenarios were erased."""
    return estimate_of(run, snapshots.get(run.snapshot_key))
