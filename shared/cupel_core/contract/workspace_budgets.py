"""Budgets of a workspace for days and months: their limits in the settings, and what is used of them."""

from datetime import date
from typing import Annotated, Self, cast

from pydantic import Field, FiniteFloat, field_validator
from pydantic_core import PydanticCustomError

from cupel_core.contract.budgets import MIN_BUDGET_USD, RoleSpendResponse, rounded_usd
from cupel_core.contract.common import RequestModel, ResponseModel, Time
from cupel_core.contract.fields import TimeZone
from cupel_core.domain.budgets.month_account import MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimitChanges, PeriodLimits, period_name
from cupel_core.domain.timezones import find_timezone

_PER_DAY = "What all calls of models may cost on a calendar day, in USD"
_PER_MONTH = "What all calls of models may cost in a calendar month, in USD"
_ZONE = "IANA time zone in which days and months begin"
_UNCOUNTED = "null while the workspace has no limit, because calls are not counted then"
_LimitUsd = Annotated[FiniteFloat, Field(strict=True, ge=MIN_BUDGET_USD, le=10_000_000)]


class UpdateBudgets(RequestModel):
    """Omitted fields keep their value and null clears it."""

    day_usd: Annotated[_LimitUsd | None, Field(description=f"{_PER_DAY}; null for no limit")] = None
    """Example: 20.0"""
    month_usd: Annotated[_LimitUsd | None, Field(description=f"{_PER_MONTH}; null for no limit")] = None
    """Example: 300.0"""
    timezone: Annotated[TimeZone | None, Field(description=f"{_ZONE}; null for UTC")] = None

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and find_timezone(name) is None:
            raise PydanticCustomError("timezone", "must be an IANA time zone, such as Europe/Berlin")
        return name

    def changes(self) -> PeriodLimitChanges:
        return cast(PeriodLimitChanges, self.model_dump(exclude_unset=True))


class BudgetLimitsResponse(ResponseModel):
    day_usd: Annotated[float | None, Field(description=f"{_PER_DAY}; null for no limit")]
    """Example: 20.0"""
    month_usd: Annotated[float | None, Field(description=f"{_PER_MONTH}; null for no limit")]
    """Example: 300.0"""
    timezone: Annotated[str, Field(description=_ZONE)]


class PeriodBudgetResponse(ResponseModel):
    """What is used of one limit, as workers have last reported: at most a minute ago."""

    period: str
    """The day, such as `2026-11-23`, or the month, such as `2026-11`. Example: 2026-11-20"""
    ends_at: Time
    """When the next period begins, and paused runs resume. Example: 2026-11-20T23:00:00Z"""
    limit_usd: float | None
    """Spending limit; null for none. Example: 20.0"""
    spent_usd: Annotated[float | None, Field(description=f"Calls whose cost is known; {_UNCOUNTED}")]
    uncertain_usd: float | None
    """Calls that may have been billed: without an answer, or of a worker that died; null like `spentUsd`."""
    reserved_usd: float | None
    """Set aside for calls in flight and for the next ones; null like `spentUsd`."""
    available_usd: float | None
    """Amount left to draw; negative after the limit was lowered, null without a limit. Example: 1.4"""
    by_role: list[RoleSpendResponse] | None
    """`spentUsd` by what the models were called for; null like `spentUsd`."""

    @classmethod
    def of(cls, scope: BudgetScope, day: date, limits: PeriodLimits, account: MonthAccount) -> Self:
        spent, available = account.spent_by_role(scope, day), account.available(scope, limits, day)
        is_counted = limits.is_set
        return cls(
            period=period_name(scope, day),
            ends_at=limits.end_of(scope, day),
            limit_usd=limits.usd_of(scope),
            spent_usd=rounded_usd(sum(spent.values())) if is_counted else None,
            uncertain_usd=rounded_usd(account.uncertain(scope, day)) if is_counted else None,
            reserved_usd=rounded_usd(account.reserved(scope, day)) if is_counted else None,
            available_usd=None if available is None else rounded_usd(available),
            by_role=RoleSpendResponse.list_of(spent) if is_counted else None,
        )


class BudgetsResponse(ResponseModel):
    """The budgets of the workspace. Calls are counted only while it has a limit, of the day or of the month."""

    timezone: Annotated[str, Field(description=_ZONE)]
    day: PeriodBudgetResponse
    """Today."""
    month: PeriodBudgetResponse
    """This month."""

    @classmethod
    def of(cls, day: date, limits: PeriodLimits, account: MonthAccount) -> Self:
        of_day, of_month = (
            PeriodBudgetResponse.of(scope, day, limits, account) for scope in (BudgetScope.DAY, BudgetScope.MONTH)
        )
        return cls(timezone=limits.timezone, day=of_day, month=of_month)
