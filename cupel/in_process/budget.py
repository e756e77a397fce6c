"""Limits the budget of an evaluation in this process by the rule of a stack's workers, with an account in memory."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from cupel.errors import UsageError
from cupel.in_process.accounts import price_variable
from cupel.in_process.estimate import estimate_plan
from cupel.in_process.plan import EvaluationPlan
from cupel_core.budgets.accounts import MemoryAccount
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.patient_calls import PatientCalls
from cupel_core.budgets.pool import AllowancePool
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.spending import Spending
from cupel_core.providers.prices import cost_usd

WAIT_SECONDS = 0.5
"""A call is tried again after this time if other calls in flight may still leave enough for it."""
_FOREVER = 10.0**12


class EvaluationBudget:
    def __init__(self, max_usd: float, account: MemoryAccount) -> None:
        self.max_usd = max_usd
        self.account = account
        self._pool = AllowancePool[str]("evaluation", lambda _: self.account, ends_at=_FOREVER, clock=time.monotonic)

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(error_type, error, traceback)

    @classmethod
    def of(cls, max_usd: float, saved: Iterable[Spending] = ()) -> Self:
        """Create a budget, which counts what an interrupted evaluation has spent on conversations."""
        return cls(max_usd, MemoryAccount(BudgetAccount(_spent_on(saved))))

    def reopened(self) -> "EvaluationBudget":
        return EvaluationBudget(self.max_usd, self.account)

    @property
    def calls(self) -> ChargedCalls:
        return ChargedCalls(self._pool.allowance("", nano_usd(self.max_usd)))

    @property
    def patient_calls(self) -> PatientCalls:
        """Return calls for summaries and selections, which have no checkpoint from which they could be tried again."""
        return PatientCalls(self.calls, self.max_usd, wait_seconds=WAIT_SECONDS)


@asynccontextmanager
async def budget_of(plan: EvaluationPlan) -> AsyncIterator[EvaluationBudget | None]:
    max_usd = plan.settings.max_budget_usd
    if max_usd is None:
        yield None
        return
    async with EvaluationBudget.of(max_usd, plan.saved.spending if plan.saved else ()) as budget:
        yield budget


def check_prices(plan: EvaluationPlan) -> None:
    if plan.settings.max_budget_usd is not None:
        checked_estimate(plan)


def checked_estimate(plan: EvaluationPlan) -> RunEstimate:
    """Return the estimate. Raises UsageError if a model's price is unknown, so that a budget could not limit its calls.

    A function of the caller has no cost here.
    """
    estimate = estimate_plan(plan)
    functions = {each.spec.model for each in plan.targets if each.agent is not None}
    unpriced = [model for model in (*estimate.unpriced, *_unpriced_narrator(plan)) if model not in functions]
    if unpriced and not plan.settings.allow_unpriced:
        raise UsageError(
            f"allow_unpriced: must be True, or a price must be set (--price, {price_variable(unpriced[0])} or "
            f"`providers`): the price of {', '.join(unpriced)} is unknown, so the budget would not limit its calls"
        )
    return estimate


def _unpriced_narrator(plan: EvaluationPlan) -> Iterator[str]:
    model, account = plan.options.get("analysis_model"), plan.narrator_account
    if model and account and cost_usd(model, Usage(1, 1), account) is None:
        yield model


def _spent_on(conversations: Iterable[Spending]) -> dict[ModelRole, int]:
    spent = Counter[ModelRole]()
    for spending in conversations:
        parts = {
            ModelRole.TARGET: spending.target,
            ModelRole.JUDGE: spending.judge,
            ModelRole.PERSONA: spending.persona,
            ModelRole.SUMMARY: spending.summary,
            ModelRole.OPERATION: spending.operation,
        }
        spent.update({role: nano_usd(spend.cost_usd or 0.0) for role, spend in parts.items()})
    return {role: amount for role, amount in spent.items() if amount}
