"""Which times EventBridge Scheduler takes, and what it is installed of them."""

from datetime import UTC, datetime

import pytest

from cupel_core.domain.runs.schedule_expressions import InvalidTiming, Timing, parse_timing
from tests.in_one_test import in_one_test


def at(hour: int) -> datetime:
    return datetime(2027, 1, 31, hour, 30, tzinfo=UTC)


def problem(expression: str, timezone: str = "UTC") -> str:
    with pytest.raises(InvalidTiming) as wrong:
        parse_timing(expression, timezone)
    return wrong.value.field


@pytest.mark.parametrize(
    "expression",
    [
        "cron(0 9 ? * MON-FRI *)",
        "cron(0/15 * * * ? *)",
        "cron(*/10 8-18 1,15 JAN,jul ? 2027-2030)",
        "cron(0 0 L * ? *)",
        "cron(0 0 15W * ? *)",
        "cron(0 0 ? * 6L *)",
        "cron(0 0 ? * FRI#2 *)",
        "cron(59 23 31 12 ? 2199)",
    ],
)
def test_a_cron_expression_is_handed_on_as_it_is(expression: str) -> None:
    assert parse_timing(expression, "Europe/Berlin") == Timing(expression, "Europe/Berlin")


@in_one_test(
    "expression",
    [
        "",
        "daily",
        "cron(0 9 * * *)",
        "cron(0 9 * * * *)",
        "cron(0 9 ? * ? *)",
        "cron(60 9 ? * MON *)",
        "cron(0 24 ? * MON *)",
        "cron(0 9 32 * ? *)",
        "cron(0 9 0 * ? *)",
        "cron(0 9 ? 13 MON *)",
        "cron(0 9 ? * 8 *)",
        "cron(0 9 ? * FRI#6 *)",
        "cron(0 9 ? * MON 1969)",
        "cron(0 9 ? * FRI-MON *)",
        "cron(0/0 9 ? * MON *)",
        "cron(0 9  ? * MON *)",
        "cron(٣ 9 ? * MON *)",
        "cron(0 9 ? * MON *) ",
        "rate(0 minutes)",
        "rate(-1 hours)",
        "rate(1.5 hours)",
        "rate(5 seconds)",
        "rate(5)",
        "at(2027-01-31)",
        "at(2027-02-30T09:30:00)",
        "at(2027-1-31T09:30:00)",
        "at(2027-01-31T09:30:00Z)",
        "at(2027-01-31 09:30:00)",
    ],
)
def test_another_expression_is_refused(expression: str) -> None:
    assert problem(expression) == "expression"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "Europe", "CEST\0"])
def test_an_unknown_time_zone_is_refused(zone: str) -> None:
    assert problem("rate(1 hour)", zone) == "timezone"


@pytest.mark.parametrize(
    ("expression", "zone"),
    [("at(9999-12-31T23:59:59)", "America/New_York"), ("at(0001-01-01T00:00:00)", "Asia/Tokyo")],
)
def test_a_single_time_beyond_all_years_is_refused(expression: str, zone: str) -> None:
    assert problem(expression, zone) == "expression"


@pytest.mark.parametrize(
    ("expression", "installed"),
    [("rate(1 hours)", "rate(1 hour)"), ("rate(6 hour)", "rate(6 hours)"), ("rate(5 minutes)", "rate(5 minutes)")],
)
def test_a_rate_is_installed_in_the_grammar_of_eventbridge(expression: str, installed: str) -> None:
    assert parse_timing(expression, "UTC").installed_expression == installed


def test_a_single_time_is_installed_in_utc() -> None:
    once = parse_timing("at(2027-01-31T09:30:00)", "Asia/Tokyo")
    assert (once.at, once.installed_expression, once.installed_timezone) == (at(0), "at(2027-01-31T00:30:00)", "UTC")


def test_a_single_time_is_shown_as_requested() -> None:
    once = parse_timing("at(2027-01-31T09:30:00)", "Asia/Tokyo")
    assert (once.expression, once.timezone) == ("at(2027-01-31T09:30:00)", "Asia/Tokyo")


def test_only_a_single_time_is_ever_over() -> None:
    once, always = parse_timing("at(2027-01-31T09:30:00)", "UTC"), parse_timing("rate(1 hour)", "UTC")
    assert [once.is_over(at(8)), once.is_over(at(9)), always.is_over(at(9))] == [False, True, False]
