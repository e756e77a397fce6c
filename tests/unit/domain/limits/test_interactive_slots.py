"""Slots that an account reserves for calls for which a person waits."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.governor import (
    INTERACTIVE_SECONDS,
    Governor,
    Limits,
    WorkerReport,
    after_leave,
    after_report,
    reserved_slots,
)
from cupel_core.domain.runs.run import Priority

FIFTY = Limits(50)


def report(worker_id: str, demand: int, in_flight: int = 0, priority: Priority = Priority.NORMAL) -> WorkerReport:
    return WorkerReport(worker_id, priority, demand, in_flight)


def person(demand: int = 2, in_flight: int = 0) -> WorkerReport:
    return replace(report("person", demand, in_flight, Priority.HIGH), is_interactive=True)


def granted(governor: Governor, worker_id: str = "a") -> int:
    return governor.leases[worker_id].granted


@pytest.mark.parametrize(("limit", "reserved"), [(1, 0), (2, 0), (9, 0), (10, 1), (20, 2), (50, 5), (1_000, 100)])
def test_a_tenth_is_reserved_and_nothing_of_a_small_account(limit: int, reserved: int) -> None:
    assert reserved_slots(limit) == reserved


def test_without_chats_nothing_is_reserved() -> None:
    assert granted(after_report(Governor(), FIFTY, report("a", 50, priority=Priority.HIGH), 1.0)) == 50


def test_a_reserve_outlasts_the_last_chat_for_a_while() -> None:
    governor = after_report(Governor(), FIFTY, person(), 1.0)
    governor = after_leave(governor, FIFTY, person(0), 2.0)
    for now, slots in ((3.0, 45), (1.0 + INTERACTIVE_SECONDS, 45), (2.0 + INTERACTIVE_SECONDS, 50)):
        assert granted(after_report(governor, FIFTY, report("a", 50), now)) == slots


def test_a_small_account_is_whole_again_as_soon_as_nobody_chats() -> None:
    """A chat takes the slot of its own call, and nothing beyond it."""
    two = Limits(2)
    governor = after_report(Governor(), two, person(1, 1), 1.0)
    assert granted(after_report(governor, two, report("a", 24), 2.0)) == 1
    governor = after_leave(governor, two, person(0), 3.0)
    assert granted(after_report(governor, two, report("a", 24), 4.0)) == 2


def test_chats_may_use_more_than_the_reserve() -> None:
    governor = after_report(Governor(), FIFTY, person(30), 1.0)
    governor = after_report(governor, FIFTY, report("a", 50), 2.0)
    assert (granted(governor, "person"), granted(governor)) == (30, 20)


def test_runs_of_high_priority_leave_the_reserve() -> None:
    governor = after_report(Governor(), FIFTY, person(1), 1.0)
    governor = after_report(governor, FIFTY, report("a", 50, priority=Priority.HIGH), 2.0)
    assert granted(governor) == 45
    assert granted(after_report(governor, FIFTY, person(5, in_flight=1), 3.0), "person") == 5


def in_flight(governor: Governor, worker_id: str) -> int:
    """Calls of a worker that uses what it may."""
    lease = governor.leases.get(worker_id)
    return min(lease.granted, lease.share) if lease else 0


@given(
    st.integers(1, 60),
    st.lists(st.tuples(st.sampled_from(Priority), st.integers(1, 60)), min_size=1, max_size=4),
    st.data(),
)
def test_a_person_never_waits_for_a_run(limit: int, workers: list[tuple[Priority, int]], data: st.DataObject) -> None:
    """Once the calls of runs that were in flight before the first chat have ended."""
    limits, now = Limits(limit), 1.0
    governor = after_leave(after_report(Governor(), limits, person(), now), limits, person(0), now)
    for number in data.draw(st.lists(st.integers(0, len(workers) - 1), min_size=1, max_size=12)):
        priority, demand = workers[number]
        name = f"w{number}"
        governor = after_report(governor, limits, report(name, demand, in_flight(governor, name), priority), now)
        assert sum(lease.reserved for lease in governor.leases.values()) <= limit - reserved_slots(limit)
        now += 0.1
    governor = after_report(governor, limits, person(reserved_slots(limit)), now)
    assert granted(governor, "person") == reserved_slots(limit)


@given(st.integers(1, 60), st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(1, 60))
def test_every_worker_gets_its_share_beside_chats(limit: int, demands: list[int], wanted: int) -> None:
    """What is neither reserved nor used by chats is not left unused."""
    limits, governor = Limits(limit), Governor()
    for _ in range(4):
        governor = after_report(governor, limits, person(wanted, in_flight(governor, "person")), 1.0)
        for number, demand in enumerate(demands):
            name = f"w{number}"
            governor = after_report(governor, limits, report(name, demand, in_flight(governor, name)), 1.0)
    chats = granted(governor, "person")
    assert chats == min(wanted, limit)
    runs = sum(granted(governor, f"w{number}") for number in range(len(demands)))
    assert runs == min(sum(demands), limit - max(chats, reserved_slots(limit)))
