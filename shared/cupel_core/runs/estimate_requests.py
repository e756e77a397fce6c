"""Estimates of what a run would cost: checks all that a start checks, and writes nothing.

A key or an address that the workspace has not set yet does not hinder an estimate, which names it: people ask what a
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
    """Raises what a start would raise for this specification now, except that it must be confirmed, and that providers
    are not set up."""
    checks = ModelChecks(workspace, tolerates_missing_access=True)
    estimated = build_run(workspace, replace(spec, confirmed_usd=inf), now, checks=checks).estimate
    return BudgetedEstimate(estimated, fit_of(workspace, spec, estimated, now), checks.missing_access)


def estimate_scale_run(workspace: str, scale_run: ScaleRun, now: datetime) -> BudgetedEstimate:
    """The same for a scale run."""
    checks = ModelChecks(workspace, tolerates_missing_access=True)
    estimated = scaling.estimate_scale_run(workspace, scale_run, now, checks)
    return BudgetedEstimate(estimated, fit_of(workspace, scale_run.settings, estimated, now), checks.missing_access)


def estimate_run_again(run: Run) -> RunEstimate:
    """The estimate of a run that has started, at its own prices. NotFound if its scenarios were erased."""
    return estimate_of(run, snapshots.get(run.snapshot_key))
