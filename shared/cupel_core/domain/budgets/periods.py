"""What a workspace may spend per calendar day and month, in the time zone of its choice."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.timezones import find_timezone

DEFAULT_TIMEZONE = "UTC"


class BudgetScope(StrEnum):
    """What a budget limits."""

    RUN = "run"
    DAY = "day"
    MONTH = "month"


class PeriodLimitChanges(TypedDict, total=False):
    """An update of limits; omitted fields are unchanged, None unsets a field."""

    day_usd: float | None
    month_usd: float | None
    timezone: str | None


PERIODS = (BudgetScope.DAY, BudgetScope.MONTH)


@dataclass(frozen=True)
class PeriodLimits:
    """None for no limit."""

    day_usd: float | None = None
    month_usd: float | None = None
    timezone: str = DEFAULT_TIMEZONE

    @property
    def is_set(self) -> bool:
        return self.day_usd is not None or self.month_usd is not None

    def usd_of(self, scope: BudgetScope) -> float | None:
        return {BudgetScope.DAY: self.day_usd, BudgetScope.MONTH: self.month_usd}.get(scope)

    def limit_of(self, scope: BudgetScope) -> int | None:
        """In billionths of a USD."""
        usd = self.usd_of(scope)
        return None if usd is None else nano_usd(usd)

    def day_at(self, seconds: float) -> date:
        """The day to which a call belongs that is made at this time, in seconds since 1970."""
        return datetime.fromtimestamp(seconds, self._zone).date()

    def end_of(self, scope: BudgetScope, day: date) -> datetime:
        """When the period ends that this day belongs to."""
        following = day + timedelta(days=1)
        if scope is BudgetScope.MONTH:
            following = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        return datetime.combine(following, time(), self._zone).astimezone(UTC)

    @property
    def _zone(self) -> tzinfo:
        return find_timezone(self.timezone) or UTC


def period_name(scope: BudgetScope, day: date) -> str:
    """`2026-11-23`, or `2026-11`."""
    return f"{day:%Y-%m}" if scope is BudgetScope.MONTH else day.isoformat()
