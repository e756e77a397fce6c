"""When a lease is renewed: each reason by itself, on a schedule that a governor has answered."""

from dataclasses import replace

import pytest

from cupel_core.accounts.leases.renewal_schedule import LeaseUse, RenewalSchedule
from cupel_core.domain.limits.governor import Governor, WorkerLease
from cupel_core.domain.runs.run import Priority

LIMIT = 50
USE = LeaseUse(demand=50, in_flight=25, is_blocked=False, waits_for_rate=False)
SHARED = WorkerLease(Priority.NORMAL, demand=50, until=1e12, share=25, granted=25, reserved=25)
"""Of one of two workers with half of the account each."""
ALONE = replace(SHARED, share=50, granted=50, reserved=50)
OTHER = {"other": replace(SHARED)}


def governor(
    own: WorkerLease | None, others: dict[str, WorkerLease] | None = None, learned: int | None = None
) -> Governor:
    leases = dict(OTHER if others is None else others)
    return Governor(leases=leases if own is None else {**leases, "own": own}, learned=learned)


def interval(
    answer: Governor, use: LeaseUse = USE, renewals: int = 1, failures: int = 0, *, urgent: bool = False
) -> float:
    """In seconds, after so many renewals with this answer and failed ones."""
    schedule = RenewalSchedule("own")
    for _ in range(renewals):
        schedule.start(50, 0.0)
        schedule.succeed(answer, LIMIT)
    for _ in range(failures):
        schedule.start(50, 0.0)
        schedule.fail()
    schedule.is_urgent = urgent
    return next(step / 10 for step in range(100) if schedule.is_due(answer, LIMIT, use, step / 10))


def test_a_lease_is_renewed_every_three_seconds() -> None:
    assert interval(governor(SHARED)) == 3.0


def test_a_worker_without_a_lease_asks_for_one_soon() -> None:
    assert interval(governor(None)) == 0.2


def test_what_others_should_know_is_reported_soon() -> None:
    assert interval(governor(SHARED), urgent=True) == 0.2


@pytest.mark.parametrize(("granted", "expected"), [(25, 0.2), (24, 3.0)])
def test_a_higher_demand_is_reported_soon_if_the_last_one_was_met(granted: int, expected: float) -> None:
    lease = replace(SHARED, demand=25, share=granted, granted=granted, reserved=granted)
    assert interval(governor(lease), replace(USE, demand=51)) == expected


@pytest.mark.parametrize(("in_flight", "expected"), [(25, 0.2), (26, 1.0), (49, 1.0), (50, 3.0)])
def test_slots_that_others_wait_for_are_released_soon_and_a_part_of_them_every_second(
    in_flight: int, expected: float
) -> None:
    lease = replace(SHARED, reserved=50)
    assert interval(governor(lease), replace(USE, in_flight=in_flight)) == expected


@pytest.mark.parametrize(("renewals", "expected"), [(1, 0.4), (2, 0.8), (3, 1.0), (9, 1.0)])
def test_a_worker_that_waits_for_slots_asks_at_least_every_second(renewals: int, expected: float) -> None:
    waiting = replace(SHARED, granted=24, reserved=24)
    assert interval(governor(waiting), renewals=renewals) == expected


@pytest.mark.parametrize(("renewals", "expected"), [(1, 0.4), (2, 0.8), (3, 1.0), (9, 1.0)])
def test_the_only_worker_looks_for_others_at_least_every_second(renewals: int, expected: float) -> None:
    assert interval(governor(ALONE, {}), renewals=renewals) == expected


@pytest.mark.parametrize(
    ("granted", "learned", "expected"), [(26, None, 1.0), (25, None, 3.0), (20, 20, 1.0), (11, 21, 3.0), (12, 21, 1.0)]
)
def test_the_only_worker_looks_for_others_if_they_would_get_a_part_of_its_slots(
    granted: int, learned: int | None, expected: float
) -> None:
    lease = replace(ALONE, demand=granted, share=granted, granted=granted, reserved=granted)
    assert interval(governor(lease, {}, learned), replace(USE, demand=granted), renewals=9) == expected


def test_a_blocked_account_is_asked_no_more_often_than_usual() -> None:
    assert interval(governor(ALONE, {}), replace(USE, is_blocked=True)) == 3.0


def test_a_worker_that_only_the_rates_stop_asks_every_second() -> None:
    assert interval(governor(SHARED), replace(USE, waits_for_rate=True)) == 1.0


@pytest.mark.parametrize(("failures", "expected"), [(1, 0.4), (2, 0.8), (3, 1.6), (4, 3.0), (9, 3.0)])
def test_a_report_that_may_be_lost_is_repeated_less_and_less_often(failures: int, expected: float) -> None:
    assert interval(governor(SHARED), failures=failures) == expected


def test_a_worker_that_needs_nothing_is_silent_once_that_is_known() -> None:
    schedule, idle = RenewalSchedule("own"), replace(USE, demand=0, in_flight=0)
    assert not schedule.is_due(Governor(), LIMIT, idle, 100.0)
    schedule.start(0, 100.0)
    schedule.fail()
    assert schedule.is_due(Governor(), LIMIT, idle, 110.0)
    schedule.start(0, 110.0)
    schedule.succeed(Governor(), LIMIT)
    assert not schedule.is_due(Governor(), LIMIT, idle, 200.0)


def test_many_workers_renew_less_often() -> None:
    many = {f"other {number}": SHARED for number in range(49)}
    assert interval(governor(replace(SHARED, granted=0, reserved=0), many)) == pytest.approx(2.0)
