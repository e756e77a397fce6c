from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import nano_usd
from cupel_core.domain.timezones import find_timezone

DEFAULT_TIMEZONE = "UTC"


class BudgetScope(StrEnum):
    """A budget limits a run, or a workspace's day or month."""

    RUN = "run"
    DAY = "day"
    MONTH = "month"


class PeriodLimitChanges(TypedDict, total=False):
    """Changes limits: omitted fields are unchanged, and None unsets a field."""

    day_usd: float | None
    month_usd: float | None
    timezone: str | None


PERIODS = (BudgetScope.DAY, BudgetScope.MONTH)


@dataclass(frozen=True)
class PeriodLimits:
    """A field that is None has no limit."""

    day_usd: float | None = None
    month_usd: float | None = None
    timezone: str = DEFAULT_TIMEZONE

    @property
    def is_set(self) -> bool:
        return self.day_usd is not None or self.month_usd is not None

    def usd_of(self, scope: BudgetScope) -> float | None:
        return {BudgetScope.DAY: self.day_usd, BudgetScope.MONTH: self.month_usd}.get(scope)

    def limit_of(self, scope: BudgetScope) -> int | None:
        """Return the limit in billionths of a USD."""
        usd = self.usd_of(scope)
        return None if usd is None else nano_usd(usd)

    def day_at(self, seconds: float) -> date:
        """Return the day of a call that is made at this time, in seconds since 1970."""
        return datetime.fromtimestamp(seconds, self._zone).date()

    def end_of(self, scope: BudgetScope, day: date) -> datetime:
        following = day + timedelta(days=1)
        if scope is BudgetScope.MONTH:
            following = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        return datetime.combine(following, time(), self._zone).astimezone(UTC)

    @property
    def _zone(self) -> tzinfo:
        return find_timezone(self.timezone) or UTC


def period_name(scope: BudgetScope, day: date) -> str:
    """Return `2026-11-23` for a day, or `2026-11` for a month."""
    return f"{day:%Y-%m}" if scope is BudgetScope.MONTH else day.isoformat()
