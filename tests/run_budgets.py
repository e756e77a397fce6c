"""Budgets of runs that are made without an estimate."""

from typing import Any

from cupel_core.domain.budgets.confirmation import BudgetGuarantee
from cupel_core.domain.budgets.run_budget import RunBudget


def run_budget(max_usd: float, **more: Any) -> RunBudget:
    return RunBudget(max_usd, **{"guarantee": BudgetGuarantee.NEVER_EXCEEDED, **more})
