"""What a schedule remembers of its firings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.schedule_expressions import timing
from cupel_core.domain.runs.schedules import KEPT_FIRINGS, Firing, Schedule

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCHEDULE = Schedule("ws", "sch_1", "nightly", timing("rate(1 hour)", "UTC"), "{}", True, NOW, NOW, installed=True)


def firing(hour: int, **told: str) -> Firing:
    return Firing(NOW + timedelta(hours=hour), NOW, **told)


@given(st.lists(st.integers(0, 40)))
def test_the_newest_firings_are_kept_once_each(hours: list[int]) -> None:
    schedule = SCHEDULE
    for hour in hours:
        schedule = schedule.fired(firing(hour))
    kept = [NOW + timedelta(hours=hour) for hour in sorted(set(hours), reverse=True)[:KEPT_FIRINGS]]
    assert [each.scheduled_time for each in schedule.firings] == kept


def test_a_later_attempt_replaces_the_earlier_one() -> None:
    schedule = SCHEDULE.fired(firing(1, error="no key")).fired(firing(1, run_id="run_1"))
    assert schedule.firings == (firing(1, run_id="run_1"),)


def test_the_run_of_a_time_is_remembered() -> None:
    schedule = SCHEDULE.fired(firing(1, run_id="run_1"))
    assert (schedule.started(NOW + timedelta(hours=1)), schedule.started(NOW)) == ("run_1", None)


def test_a_long_error_is_cut() -> None:
    (kept,) = SCHEDULE.fired(firing(1, error="x" * 1_000)).firings
    assert kept.error == "x" * 500


def test_a_status_says_how_a_schedule_stands() -> None:
    once = replace(SCHEDULE, timing=timing("at(2026-11-20T11:00:00)", "UTC"))
    stands = [SCHEDULE, replace(SCHEDULE, enabled=False), replace(SCHEDULE, installed=False), once]
    assert [each.status(NOW) for each in stands] == ["ENABLED", "DISABLED", "PENDING", "ENDED"]
