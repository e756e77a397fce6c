"""What a schedule remembers of its firings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.schedule_expressions import parse_timing
from cupel_core.domain.runs.schedules import MAX_FIRINGS, Firing, Schedule

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCHEDULE = Schedule("ws", "sch_1", "nightly", parse_timing("rate(1 hour)", "UTC"), "{}", True, NOW, NOW, installed=True)


def firing(hour: int, **fields: str) -> Firing:
    return Firing(NOW + timedelta(hours=hour), NOW, **fields)


@given(st.lists(st.integers(0, 40)))
def test_the_newest_firings_are_stored_once_each(hours: list[int]) -> None:
    schedule = SCHEDULE
    for hour in hours:
        schedule = schedule.with_firing(firing(hour))
    newest = [NOW + timedelta(hours=hour) for hour in sorted(set(hours), reverse=True)[:MAX_FIRINGS]]
    assert [item.scheduled_time for item in schedule.firings] == newest


def test_a_later_attempt_replaces_the_earlier_one() -> None:
    schedule = SCHEDULE.with_firing(firing(1, error="no key")).with_firing(firing(1, run_id="run_1"))
    assert schedule.firings == (firing(1, run_id="run_1"),)


def test_the_run_of_a_time_is_remembered() -> None:
    schedule = SCHEDULE.with_firing(firing(1, run_id="run_1"))
    assert (schedule.run_started_for(NOW + timedelta(hours=1)), schedule.run_started_for(NOW)) == ("run_1", None)


def test_a_long_error_is_cut() -> None:
    (newest,) = SCHEDULE.with_firing(firing(1, error="x" * 1_000)).firings
    assert newest.error == "x" * 500


def test_the_status_of_a_schedule() -> None:
    once = replace(SCHEDULE, timing=parse_timing("at(2026-11-20T11:00:00)", "UTC"))
    schedules = [SCHEDULE, replace(SCHEDULE, enabled=False), replace(SCHEDULE, installed=False), once]
    assert [item.status(NOW) for item in schedules] == ["ENABLED", "DISABLED", "PENDING", "ENDED"]
