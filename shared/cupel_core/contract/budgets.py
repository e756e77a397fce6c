"""Budgets of runs: fields of a start, and what is used of one."""

from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import Field, FiniteFloat

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.estimates import StartEstimate
from cupel_core.contract.fields import Flag
from cupel_core.domain.budgets.account import BudgetAccount, BudgetLease
from cupel_core.domain.budgets.confirmation import BudgetGuarantee
from cupel_core.domain.budgets.money import SpentByRole, usd
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.runs.run import PauseReason, Progress, Run, RunStatus
from cupel_core.domain.runs.views import BudgetView

MIN_PROJECTED_OUTCOMES = 20
"""Of fewer, the mean cost says little."""
_DIGITS = 9

MIN_BUDGET_USD = 0.000001
MaxBudgetUsd = Annotated[
    FiniteFloat,
    Field(strict=True, ge=MIN_BUDGET_USD, le=1_000_000, description="What the run may spend in all, in USD"),
]


class RoleSpendResponse(ResponseModel):
    role: ModelRole
    """Role of the called models. Example: judge"""
    usd: float
    """Amount in USD. Example: 0.6"""

    @staticmethod
    def list_of(spent: SpentByRole) -> "list[RoleSpendResponse]":
        return [RoleSpendResponse(role=role, usd=rounded_usd(spent[role])) for role in ModelRole if role in spent]


MaxUsd = Annotated[float, Field(description="What the run may spend in all, in USD")]
SpentUsd = Annotated[float, Field(description="Calls whose cost is known")]
UncertainUsd = Annotated[
    float, Field(description="Calls that may have been billed: without an answer, or of a worker that died")
]
ReservedUsd = Annotated[float, Field(description="Set aside for calls in flight and for the next ones")]
RoleSpends = Annotated[list[RoleSpendResponse], Field(description="`spentUsd` by what the models were called for")]

ExhaustedBudget = Annotated[
    BudgetScope | None,
    Field(description="Which budget is used up, if that paused the run: its own, or the workspace's for a period"),
]


MAX_CONFIRMED_USD = 10.0**12
"""More than any run costs: what a start is expected to cost may exceed the greatest budget."""
ConfirmedUsd = Annotated[FiniteFloat, Field(strict=True, ge=0, le=MAX_CONFIRMED_USD)]
ConfirmedAdditionUsd = Annotated[
    ConfirmedUsd | None,
    Field(
        description="Expected cost that you agree to. Required if the estimate exceeds what is left of the run's or "
        "the workspace's budget; refused if the estimate is higher than agreed"
    ),
]


class BudgetFields(RequestModel):
    """Budget of a run to be started."""

    max_budget_usd: MaxBudgetUsd | None = None
    """Spending limit in USD; the run is paused when it is used up. No limit by default."""
    allow_unpriced: Flag = False
    """True if a run with a budget may call models whose price is unknown; they cost nothing."""
    confirmed_usd: ConfirmedUsd | None = None
    """Expected cost that you agree to. Required if the estimate exceeds `maxBudgetUsd`; a start with a higher estimate
    than agreed is refused."""


class UpdateRunBudget(RequestModel):
    model_config = example({"maxBudgetUsd": 10})

    max_budget_usd: MaxBudgetUsd
    """Example: 10.0"""
    resume: Flag = True
    """True if the run resumes if it is paused because of its budget. Example: true"""


class BudgetLeaseResponse(ResponseModel):
    """One worker's lease of the budget."""

    spent_usd: SpentUsd
    uncertain_usd: UncertainUsd
    reserved_usd: ReservedUsd
    expires_at: Time
    """Expiry unless the worker reports before."""

    @classmethod
    def of(cls, lease: BudgetLease) -> Self:
        return cls(
            spent_usd=rounded_usd(sum(lease.spent.values())),
            uncertain_usd=rounded_usd(lease.uncertain),
            reserved_usd=rounded_usd(lease.reserved),
            expires_at=datetime.fromtimestamp(lease.until, UTC),
        )


class BudgetUseResponse(ResponseModel):
    """Use of a budget, as workers last reported, at most a minute ago."""

    max_budget_usd: MaxUsd
    spent_usd: SpentUsd
    uncertain_usd: UncertainUsd
    reserved_usd: ReservedUsd
    by_role: RoleSpends
    projected_usd: Annotated[
        float | None,
        Field(
            description="What all probes will have cost at the present mean; null before "
            f"{MIN_PROJECTED_OUTCOMES} have an outcome"
        ),
    ]
    """Example: 4.6"""

    @classmethod
    def find(cls, run: Run, account: BudgetAccount | None, progress: Progress) -> Self | None:
        """None for a run without a budget."""
        if run.budget is None:
            return None
        account, outcomes = account or BudgetAccount(), progress.completed + progress.failed
        is_projected = outcomes >= MIN_PROJECTED_OUTCOMES
        return cls.from_value(
            account,
            max_budget_usd=run.budget.max_usd,
            by_role=RoleSpendResponse.list_of(account.spent_by_role),
            projected_usd=rounded_usd(account.used * progress.total // outcomes) if is_projected else None,
        )


class OwnBudgetResponse(ResponseModel):
    max_budget_usd: float
    """Spending limit in USD."""
    spent_usd: SpentUsd
    uncertain_usd: UncertainUsd
    reserved_usd: ReservedUsd


class RunBudgetResponse(ResponseModel):
    run_id: Annotated[str, read_from("run.id")]
    status: Annotated[RunStatus, read_from("run.status")]
    pause_reason: Annotated[PauseReason | None, read_from("run.pause_reason")]
    """Who or what paused the run."""
    max_budget_usd: Annotated[MaxUsd, read_from("budget.max_usd")]
    finish_usd: float
    """Set aside for summaries, selections and the report: probes may not use it. Example: 0.2"""
    spent_usd: Annotated[SpentUsd, read_from("account.spent_usd")]
    uncertain_usd: Annotated[UncertainUsd, read_from("account.uncertain_usd")]
    reserved_usd: Annotated[ReservedUsd, read_from("account.reserved_usd")]
    available_usd: float
    """Amount that probes may still draw; negative after the limit was lowered. Example: 1.4"""
    by_role: RoleSpends
    leases: list[BudgetLeaseResponse]
    """Leases of active workers."""
    guarantee: Annotated[BudgetGuarantee, read_from("budget.guarantee")]
    """Possible excess over the budget: none, calls in flight or unpriced calls; as at the start."""
    unlimited_targets: Annotated[list[str], read_from("budget.unlimited_targets")]
    """Targets without `maxOutputTokens`, whose calls in flight may cost more than was set aside.

    Example: ["openai/gpt-6.1-terra"]
    """
    shortage: str | None
    """Reason why the run cannot continue; null while it can.

    Example: its budget of $5 is used up, and the next call needs $0.010000 more; raise maxBudgetUsd
    """
    estimated_usd: Annotated[StartEstimate, read_from("run.estimated_usd")]

    @classmethod
    def of(cls, view: BudgetView) -> Self:
        run, budget, account = view
        return cls.from_value(
            view,
            finish_usd=rounded_usd(budget.limit - budget.probe_limit),
            available_usd=rounded_usd(account.available(budget.probe_limit)),
            by_role=RoleSpendResponse.list_of(account.spent_by_role),
            leases=[BudgetLeaseResponse.of(lease) for lease in account.leases.values()],
            shortage=budget.shortage(account, run.needed_nano_usd),
        )


def rounded_usd(nano: int) -> float:
    return round(usd(nano), _DIGITS)
