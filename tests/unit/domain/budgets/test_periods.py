"""Days and months of a workspace's budgets: when they begin and end, and the amounts that they allow."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.budgets.periods import PERIODS, BudgetScope, PeriodLimits, period_name

DAY, MONTH = BudgetScope.DAY, BudgetScope.MONTH


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_a_call_belongs_to_the_day_of_the_workspaces_time_zone() -> None:
    moment = seconds("2026-11-23T23:30:00+00:00")
    assert PeriodLimits(1.0).day_at(moment) == date(2026, 11, 23)
    assert PeriodLimits(1.0, timezone="Europe/Berlin").day_at(moment) == date(2026, 11, 24)
    assert PeriodLimits(1.0, timezone="America/New_York").day_at(moment) == date(2026, 11, 23)


@pytest.mark.parametrize(
    ("scope", "day", "timezone", "end"),
    [
        (DAY, date(2026, 11, 23), "UTC", datetime(2026, 11, 24, tzinfo=UTC)),
        (DAY, date(2026, 12, 31), "UTC", datetime(2027, 1, 1, tzinfo=UTC)),
        (DAY, date(2026, 11, 23), "Europe/Berlin", datetime(2026, 11, 23, 23, tzinfo=UTC)),
        (DAY, date(2026, 3, 29), "Europe/Berlin", datetime(2026, 3, 29, 22, tzinfo=UTC)),
        (MONTH, date(2026, 11, 1), "UTC", datetime(2026, 12, 1, tzinfo=UTC)),
        (MONTH, date(2026, 12, 31), "UTC", datetime(2027, 1, 1, tzinfo=UTC)),
        (MONTH, date(2028, 2, 29), "Asia/Tokyo", datetime(2028, 2, 29, 15, tzinfo=UTC)),
    ],
)
def test_a_period_ends_at_midnight_of_its_time_zone(
    scope: BudgetScope, day: date, timezone: str, end: datetime
) -> None:
    assert PeriodLimits(1.0, timezone=timezone).end_of(scope, day) == end


@given(
    st.integers(0, 2_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]),
    st.sampled_from(PERIODS),
)
def test_every_moment_is_before_the_end_of_its_period_and_the_next_period_begins_there(
    moment: datetime, timezone: str, scope: BudgetScope
) -> None:
    limits = PeriodLimits(1.0, timezone=timezone)
    day = limits.day_at(moment.timestamp())
    end = limits.end_of(scope, day)
    assert moment < end
    following, last = limits.day_at(end.timestamp()), limits.day_at(end.timestamp() - 1)
    assert period_name(scope, last) == period_name(scope, day) != period_name(scope, following)


def test_a_time_zone_that_this_machine_does_not_know_counts_as_utc() -> None:
    assert PeriodLimits(1.0, timezone="Mars/Olympus").day_at(seconds("2026-11-23T23:30:00+00:00")).day == 23


def test_limits_are_whole_billionths_of_a_dollar() -> None:
    limits = PeriodLimits(day_usd=0.000001, month_usd=None)
    assert (limits.limit_of(DAY), limits.limit_of(MONTH), limits.is_set) == (1_000, None, True)
    assert not PeriodLimits().is_set
