"""How workers that never talk to each other stay within what their account allows."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.breaker import Call
from cupel_core.domain.limits.governor import (
    LOWER_EVERY_SECONDS,
    RAISE_EVERY_SECONDS,
    SEAT_SECONDS,
    Governor,
    Limits,
    Report,
    left,
    renewed,
    shares,
)
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import ErrorCode

FIFTY = Limits(50)
HIGH, NORMAL, LOW = Priority.HIGH, Priority.NORMAL, Priority.LOW


def report(worker_id: str = "a", wanted: int = 50, in_flight: int = 0, priority: Priority = NORMAL) -> Report:
    return Report(worker_id, priority, wanted, in_flight)


def throttled(times: int, of: int, asked_until: float = 0.0) -> Report:
    codes = [ErrorCode.RATE_LIMITED] * times + [None] * (of - times)
    calls = tuple(Call("openai/m", code, 1.0) for code in codes)
    return replace(report(in_flight=50), calls=calls, asked_until=asked_until)


def granted(governor: Governor, worker_id: str = "a") -> int:
    return governor.seats[worker_id].granted


def test_a_lone_worker_gets_all_that_it_wants() -> None:
    assert granted(renewed(Governor(), FIFTY, report(wanted=70), 1.0)) == 50
    assert granted(renewed(Governor(), FIFTY, report(wanted=30), 1.0)) == 30


def test_two_workers_that_come_together_get_half_each() -> None:
    governor = renewed(Governor(), FIFTY, report("a", wanted=25), 1.0)
    governor = renewed(governor, FIFTY, report("b", wanted=50), 1.0)
    governor = renewed(governor, FIFTY, report("a", wanted=50, in_flight=25), 1.5)
    assert (granted(governor, "a"), granted(governor, "b")) == (25, 25)


def test_a_newcomer_gets_its_share_as_the_others_calls_end() -> None:
    governor = renewed(Governor(), FIFTY, report("a"), 1.0)
    governor = renewed(governor, FIFTY, report("b"), 1.1)
    assert (granted(governor, "b"), governor.seats["b"].share) == (0, 25)
    governor = renewed(governor, FIFTY, report("a", in_flight=40), 1.2)
    governor = renewed(governor, FIFTY, report("b"), 1.3)
    assert (granted(governor, "a"), granted(governor, "b")) == (25, 10)


def test_what_a_dead_worker_held_is_free_when_its_seat_ends() -> None:
    governor = renewed(Governor(), FIFTY, report("a"), 1.0)
    assert granted(renewed(governor, FIFTY, report("b"), 1.0 + SEAT_SECONDS - 0.1), "b") == 0
    assert granted(renewed(governor, FIFTY, report("b"), 1.0 + SEAT_SECONDS), "b") == 50


def test_what_a_worker_that_left_held_is_free_at_once() -> None:
    governor = left(renewed(Governor(), FIFTY, report("a"), 1.0), FIFTY, report("a"), 1.1)
    assert granted(renewed(governor, FIFTY, report("b"), 1.2), "b") == 50


def test_a_priority_comes_before_the_next() -> None:
    demands = {"low": (LOW, 50), "high": (HIGH, 30), "one": (NORMAL, 50), "two": (NORMAL, 50)}
    assert shares(50, demands) == {"high": 30, "one": 10, "two": 10, "low": 0}


def test_what_one_does_not_want_is_the_others() -> None:
    assert shares(50, {"a": (NORMAL, 5), "b": (NORMAL, 50), "c": (NORMAL, 50)}) == {"a": 5, "b": 23, "c": 22}


@given(
    st.integers(0, 300),
    st.dictionaries(st.text(max_size=3), st.tuples(st.sampled_from(Priority), st.integers(0, 100)), max_size=12),
)
def test_shares_leave_nothing_that_somebody_wants(limit: int, demands: dict[str, tuple[Priority, int]]) -> None:
    fair = shares(limit, demands)
    assert sum(fair.values()) == min(limit, sum(wanted for _, wanted in demands.values()))
    assert all(0 <= fair[worker_id] <= wanted for worker_id, (_, wanted) in demands.items())


@dataclass
class Driven:
    """A worker that begins as much as it may and asks again from time to time."""

    priority: Priority
    in_flight: int = 0


WORKERS = ("a", "b", "c", "d")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["renew", "renew", "begin", "end", "die", "leave"]),
        st.sampled_from(WORKERS),
        st.integers(0, 60),
        st.floats(0, 4),
    ),
    max_size=60,
)


@given(st.integers(1, 60), st.lists(st.sampled_from(Priority), min_size=4, max_size=4), STEPS)
def test_calls_in_flight_never_exceed_the_limit(
    limit: int, priorities: list[Priority], steps: list[tuple[str, str, int, float]]
) -> None:
    governor, now = Governor(), 0.0
    workers = {worker_id: Driven(priority) for worker_id, priority in zip(WORKERS, priorities, strict=True)}
    for action, worker_id, number, wait in steps:
        now += wait
        for other in set(workers) - governor.live(now).keys():
            workers[other].in_flight = 0  # Whoever does not renew in time is dead.
        worker, seat = workers[worker_id], governor.live(now).get(worker_id)
        told = Report(worker_id, worker.priority, number, worker.in_flight)
        match action:
            case "renew":
                governor = renewed(governor, Limits(limit), told, now)
            case "begin" if seat:
                worker.in_flight = max(worker.in_flight, min(seat.granted, number))
            case "end":
                worker.in_flight = min(worker.in_flight, number)
            case "die":
                worker.in_flight = 0
            case "leave" if seat:
                worker.in_flight = 0
                governor = left(governor, Limits(limit), replace(told, in_flight=0), now)
        assert sum(seat.held for seat in governor.live(now).values()) <= limit
        assert sum(each.in_flight for each in workers.values()) <= limit


@given(
    st.integers(1, 60),
    st.dictionaries(
        st.text(min_size=1, max_size=3), st.tuples(st.sampled_from(Priority), st.integers(0, 60)), min_size=1
    ),
)
def test_after_two_rounds_everybody_has_its_share(limit: int, demands: dict[str, tuple[Priority, int]]) -> None:
    governor = Governor()
    for _ in range(3):
        for worker_id, (priority, wanted) in demands.items():
            seat = governor.seats.get(worker_id)
            in_flight = min(wanted, seat.granted) if seat else 0
            told = Report(worker_id, priority, wanted, min(in_flight, seat.share if seat else 0))
            governor = renewed(governor, Limits(limit), told, 1.0)
    assert {worker_id: seat.granted for worker_id, seat in governor.seats.items()} == shares(limit, demands)


def test_throttling_halves_the_limit() -> None:
    governor = renewed(Governor(), FIFTY, report(), 1.0)
    governor = renewed(governor, FIFTY, throttled(20, of=50), 10.0)
    assert (governor.learned, granted(governor)) == (25, 25)


def test_the_calls_of_one_throttling_halve_it_once() -> None:
    governor = renewed(Governor(), FIFTY, throttled(20, of=50), 10.0)
    governor = renewed(governor, FIFTY, throttled(20, of=50), 10.0 + LOWER_EVERY_SECONDS / 2)
    assert governor.learned == 25
    assert renewed(governor, FIFTY, throttled(20, of=50), 10.0 + LOWER_EVERY_SECONDS).learned == 12


def test_half_is_of_what_was_in_use() -> None:
    governor = renewed(Governor(), FIFTY, replace(throttled(5, of=8), wanted=8, in_flight=8), 10.0)
    assert governor.learned == 4


def test_a_stray_throttling_changes_nothing() -> None:
    governor = renewed(Governor(), FIFTY, throttled(4, of=50, asked_until=30.0), 10.0)
    assert (governor.learned, governor.blocked_until) == (None, 0.0)


def test_the_limit_is_never_less_than_one() -> None:
    governor, now = Governor(), 0.0
    for _ in range(10):
        now += LOWER_EVERY_SECONDS
        governor = renewed(governor, FIFTY, throttled(50, of=50), now)
    assert governor.learned == 1


def test_without_throttling_the_limit_comes_back_slowly_and_not_above_what_is_set() -> None:
    governor = renewed(Governor(), FIFTY, throttled(50, of=50), 100.0)
    learned = []
    for step in range(1, 14):
        governor = renewed(governor, FIFTY, report(), 100 + step * RAISE_EVERY_SECONDS)
        learned.append(governor.learned)
    assert learned[:3] == [27, 29, 31]
    assert learned[-1] is None


def test_a_time_without_calls_raises_the_limit_too() -> None:
    governor = renewed(Governor(), FIFTY, throttled(50, of=50), 100.0)
    assert governor.learned == 25
    assert renewed(governor, FIFTY, report(), 3_700.0).learned is None


def test_a_throttled_account_is_blocked_as_long_as_it_asks() -> None:
    assert renewed(Governor(), FIFTY, throttled(20, of=50, asked_until=42.0), 10.0).blocked_until == 42.0


def test_a_spent_allowance_blocks_without_lowering_the_limit() -> None:
    governor = renewed(Governor(), FIFTY, replace(report(), spent_until=42.0), 10.0)
    assert (governor.blocked_until, governor.learned) == (42.0, None)


def test_requests_are_lent_within_the_rate_and_come_back_unused() -> None:
    limits = Limits(50, requests_per_minute=600)
    governor = renewed(Governor(), limits, report("a", wanted=50), 1.0)
    assert governor.seats["a"].requests == 20
    governor = renewed(governor, limits, replace(report("a", wanted=50), attempts=5), 1.0)
    assert governor.seats["a"].requests == 15


def test_workers_are_lent_what_goes_with_their_grants() -> None:
    limits = Limits(50, requests_per_minute=600)
    governor = renewed(Governor(), limits, report("a", wanted=25), 1.0)
    governor = renewed(governor, limits, replace(report("b", wanted=25)), 1.0)
    governor = renewed(governor, limits, replace(report("a", wanted=25)), 2.0)
    assert governor.seats["a"].requests == 10


def test_tokens_are_paid_off_before_more_are_lent() -> None:
    limits = Limits(50, tokens_per_minute=60_000)
    governor = renewed(Governor(), limits, report(), 1.0)
    assert governor.seats["a"].tokens == 2_000
    governor = renewed(governor, limits, replace(report(), tokens=5_000), 2.0)
    assert governor.seats["a"].tokens == 0
    assert renewed(governor, limits, report(), 4.0).seats["a"].tokens == pytest.approx(0)
    assert renewed(governor, limits, report(), 5.0).seats["a"].tokens == pytest.approx(1_000)


def test_refusals_of_several_workers_open_a_breaker_together() -> None:
    refused = (Call("openai/typo", ErrorCode.INVALID_REQUEST, 1.0),) * 3
    governor = renewed(Governor(), FIFTY, replace(report("a"), calls=refused), 1.0)
    governor = renewed(governor, FIFTY, replace(report("b"), calls=refused), 1.0)
    assert governor.breakers["openai/typo"].is_open


def test_the_trial_goes_to_one_worker_that_has_a_probe_of_the_model() -> None:
    refused = (Call("openai/typo", ErrorCode.AUTH, 1.0),) * 5
    governor = renewed(Governor(), FIFTY, replace(report("a"), calls=refused), 1.0)
    governor = renewed(governor, FIFTY, report("a"), 40.0)
    assert governor.breakers["openai/typo"].trial_of is None
    for worker_id in ("b", "c"):
        governor = renewed(governor, FIFTY, replace(report(worker_id), models=frozenset({"openai/typo"})), 41.0)
    assert governor.breakers["openai/typo"].trial_of == "b"


def test_models_without_failures_are_not_remembered() -> None:
    answered = tuple(Call(f"openai/{n}", None, 1.0) for n in range(50))
    assert renewed(Governor(), FIFTY, replace(report(), calls=answered), 1.0).breakers == {}
