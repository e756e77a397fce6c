"""How workers that never talk to other_worker other stay within what their account allows."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import (
    DECREASE_INTERVAL_SECONDS,
    INCREASE_INTERVAL_SECONDS,
    LEASE_SECONDS,
    Governor,
    Limits,
    WorkerReport,
    after_leave,
    after_report,
    fair_shares,
)
from cupel_core.domain.runs.run import Priority

FIFTY = Limits(50)
HIGH, NORMAL, LOW = Priority.HIGH, Priority.NORMAL, Priority.LOW


def report(worker_id: str = "a", demand: int = 50, in_flight: int = 0, priority: Priority = NORMAL) -> WorkerReport:
    return WorkerReport(worker_id, priority, demand, in_flight)


def throttled(times: int, of: int) -> WorkerReport:
    codes = [ProbeErrorCode.RATE_LIMITED] * times + [None] * (of - times)
    calls = tuple(CallRecord("openai/m", code, 1.0) for code in codes)
    return replace(report(in_flight=50), calls=calls)


def granted(governor: Governor, worker_id: str = "a") -> int:
    return governor.leases[worker_id].granted


def test_a_single_worker_gets_its_demand() -> None:
    assert granted(after_report(Governor(), FIFTY, report(demand=70), 1.0)) == 50
    assert granted(after_report(Governor(), FIFTY, report(demand=30), 1.0)) == 30


def test_two_workers_that_start_together_get_half_each() -> None:
    governor = after_report(Governor(), FIFTY, report("a", demand=25), 1.0)
    governor = after_report(governor, FIFTY, report("b", demand=50), 1.0)
    governor = after_report(governor, FIFTY, report("a", demand=50, in_flight=25), 1.5)
    assert (granted(governor, "a"), granted(governor, "b")) == (25, 25)


def test_a_newcomer_gets_its_share_as_the_others_calls_end() -> None:
    governor = after_report(Governor(), FIFTY, report("a"), 1.0)
    governor = after_report(governor, FIFTY, report("b"), 1.1)
    assert (granted(governor, "b"), governor.leases["b"].share) == (0, 25)
    governor = after_report(governor, FIFTY, report("a", in_flight=40), 1.2)
    governor = after_report(governor, FIFTY, report("b"), 1.3)
    assert (granted(governor, "a"), granted(governor, "b")) == (25, 10)


def test_the_grant_of_a_dead_worker_is_free_when_its_lease_expires() -> None:
    governor = after_report(Governor(), FIFTY, report("a"), 1.0)
    assert granted(after_report(governor, FIFTY, report("b"), 1.0 + LEASE_SECONDS - 0.1), "b") == 0
    assert granted(after_report(governor, FIFTY, report("b"), 1.0 + LEASE_SECONDS), "b") == 50


def test_the_grant_of_a_worker_that_left_is_free_at_once() -> None:
    governor = after_leave(after_report(Governor(), FIFTY, report("a"), 1.0), FIFTY, report("a"), 1.1)
    assert granted(after_report(governor, FIFTY, report("b"), 1.2), "b") == 50


def test_a_higher_priority_comes_first() -> None:
    demands = {"low": (LOW, 50), "high": (HIGH, 30), "one": (NORMAL, 50), "two": (NORMAL, 50)}
    assert fair_shares(50, demands) == {"high": 30, "one": 10, "two": 10, "low": 0}


def test_an_unused_share_goes_to_the_others() -> None:
    assert fair_shares(50, {"a": (NORMAL, 5), "b": (NORMAL, 50), "c": (NORMAL, 50)}) == {"a": 5, "b": 23, "c": 22}


@given(
    st.integers(0, 300),
    st.dictionaries(st.text(max_size=3), st.tuples(st.sampled_from(Priority), st.integers(0, 100)), max_size=12),
)
def test_shares_use_the_limit_as_far_as_there_is_demand(limit: int, demands: dict[str, tuple[Priority, int]]) -> None:
    fair = fair_shares(limit, demands)
    assert sum(fair.values()) == min(limit, sum(demand for _, demand in demands.values()))
    assert all(0 <= fair[worker_id] <= demand for worker_id, (_, demand) in demands.items())


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
        for other in set(workers) - governor.live_leases(now).keys():
            workers[other].in_flight = 0  # Whoever does not renew in time is dead.
        worker, lease = workers[worker_id], governor.live_leases(now).get(worker_id)
        worker_report = WorkerReport(worker_id, worker.priority, number, worker.in_flight)
        match action:
            case "renew":
                governor = after_report(governor, Limits(limit), worker_report, now)
            case "begin" if lease:
                worker.in_flight = max(worker.in_flight, min(lease.granted, number))
            case "end":
                worker.in_flight = min(worker.in_flight, number)
            case "die":
                worker.in_flight = 0
            case "leave" if lease:
                worker.in_flight = 0
                governor = after_leave(governor, Limits(limit), replace(worker_report, in_flight=0), now)
        assert sum(lease.reserved for lease in governor.live_leases(now).values()) <= limit
        assert sum(other_worker.in_flight for other_worker in workers.values()) <= limit


@given(
    st.integers(1, 60),
    st.dictionaries(
        st.text(min_size=1, max_size=3), st.tuples(st.sampled_from(Priority), st.integers(0, 60)), min_size=1
    ),
)
def test_after_two_rounds_every_worker_has_its_share(limit: int, demands: dict[str, tuple[Priority, int]]) -> None:
    governor = Governor()
    for _ in range(3):
        for worker_id, (priority, demand) in demands.items():
            lease = governor.leases.get(worker_id)
            in_flight = min(demand, lease.granted) if lease else 0
            worker_report = WorkerReport(worker_id, priority, demand, min(in_flight, lease.share if lease else 0))
            governor = after_report(governor, Limits(limit), worker_report, 1.0)
    assert {worker_id: lease.granted for worker_id, lease in governor.leases.items()} == fair_shares(limit, demands)


def test_throttling_halves_the_limit() -> None:
    governor = after_report(Governor(), FIFTY, report(), 1.0)
    governor = after_report(governor, FIFTY, throttled(20, of=50), 10.0)
    assert (governor.learned, granted(governor)) == (25, 25)


def test_the_calls_of_one_throttling_halve_it_once() -> None:
    governor = after_report(Governor(), FIFTY, throttled(20, of=50), 10.0)
    governor = after_report(governor, FIFTY, throttled(20, of=50), 10.0 + DECREASE_INTERVAL_SECONDS / 2)
    assert governor.learned == 25
    assert after_report(governor, FIFTY, throttled(20, of=50), 10.0 + DECREASE_INTERVAL_SECONDS).learned == 12


def test_half_is_of_what_was_in_use() -> None:
    governor = after_report(Governor(), FIFTY, replace(throttled(8, of=8), demand=8, in_flight=8), 10.0)
    assert governor.learned == 4


def test_refusals_that_come_before_the_answers_of_other_calls_change_nothing() -> None:
    """A refusal takes milliseconds: the first report of a run may know of three refusals and no answer."""
    governor = after_report(Governor(), FIFTY, replace(throttled(3, of=3), demand=50, in_flight=47), 10.0)
    assert governor.learned is None
    other = after_report(Governor(), FIFTY, replace(report(), worker_id="other", demand=47, in_flight=47), 10.0)
    assert after_report(other, FIFTY, throttled(3, of=3), 10.0).learned is None


def test_a_stray_throttling_changes_nothing() -> None:
    governor = after_report(Governor(), FIFTY, throttled(4, of=50), 10.0)
    assert (governor.learned, governor.blocked_until) == (None, 0.0)


def test_the_limit_is_never_less_than_one() -> None:
    governor, now = Governor(), 0.0
    for _ in range(10):
        now += DECREASE_INTERVAL_SECONDS
        governor = after_report(governor, FIFTY, throttled(50, of=50), now)
    assert governor.learned == 1


def test_without_throttling_the_limit_rises_slowly_up_to_the_configured_one() -> None:
    governor = after_report(Governor(), FIFTY, throttled(50, of=50), 100.0)
    learned = []
    for step in range(1, 14):
        governor = after_report(governor, FIFTY, report(), 100 + step * INCREASE_INTERVAL_SECONDS)
        learned.append(governor.learned)
    assert learned[:3] == [27, 29, 31]
    assert learned[-1] is None


def test_a_time_without_calls_raises_the_limit_too() -> None:
    governor = after_report(Governor(), FIFTY, throttled(50, of=50), 100.0)
    assert governor.learned == 25
    assert after_report(governor, FIFTY, report(), 3_700.0).learned is None


def refused_calls(*models: str) -> WorkerReport:
    calls = [CallRecord(model, ProbeErrorCode.RATE_LIMITED, 1.0, wait_seconds=30.0) for model in models for _ in "12"]
    return replace(report(), calls=tuple(calls))


def test_a_limit_is_the_model_s_that_it_was_said_about() -> None:
    governor = after_report(Governor(), FIFTY, refused_calls("openai/m", "openai/n"), 10.0)
    assert governor.breakers["openai/m"].is_waiting
    assert governor.blocked_until == 0.0


def test_after_three_models_were_refused_the_account_waits() -> None:
    governor = after_report(Governor(), FIFTY, refused_calls("openai/m", "openai/n", "openai/o"), 10.0)
    assert governor.blocked_until == 40.0


def test_an_account_that_answers_any_model_does_not_wait() -> None:
    refused = refused_calls("openai/m", "openai/n", "openai/o")
    answered = replace(refused, calls=(*refused.calls, CallRecord("openai/p", None, 1.0)))
    assert after_report(Governor(), FIFTY, answered, 10.0).blocked_until == 0.0


def test_a_spent_allowance_stops_its_model_without_lowering_the_limit() -> None:
    governor = after_report(Governor(), FIFTY, replace(report(), exhausted={"openai/m": 42.0}), 10.0)
    assert (governor.breakers["openai/m"].until, governor.blocked_until, governor.learned) == (42.0, 0.0, None)


def test_requests_are_lent_within_the_rate_and_returned_unused() -> None:
    limits = Limits(50, requests_per_minute=600)
    governor = after_report(Governor(), limits, report("a", demand=50), 1.0)
    assert governor.leases["a"].requests == 20
    governor = after_report(governor, limits, replace(report("a", demand=50), attempts=5), 1.0)
    assert governor.leases["a"].requests == 15


def test_workers_are_lent_requests_in_proportion_to_their_grants() -> None:
    limits = Limits(50, requests_per_minute=600)
    governor = after_report(Governor(), limits, report("a", demand=25), 1.0)
    governor = after_report(governor, limits, replace(report("b", demand=25)), 1.0)
    governor = after_report(governor, limits, replace(report("a", demand=25)), 2.0)
    assert governor.leases["a"].requests == 10


def test_tokens_are_paid_off_before_more_are_lent() -> None:
    limits = Limits(50, tokens_per_minute=60_000)
    governor = after_report(Governor(), limits, report(), 1.0)
    assert governor.leases["a"].tokens == 2_000
    governor = after_report(governor, limits, replace(report(), tokens=5_000), 2.0)
    assert governor.leases["a"].tokens == 0
    assert after_report(governor, limits, report(), 4.0).leases["a"].tokens == pytest.approx(0)
    assert after_report(governor, limits, report(), 5.0).leases["a"].tokens == pytest.approx(1_000)


def test_refusals_of_several_workers_open_a_breaker_together() -> None:
    refused = (CallRecord("openai/typo", ProbeErrorCode.INVALID_REQUEST, 1.0),) * 3
    governor = after_report(Governor(), FIFTY, replace(report("a"), calls=refused), 1.0)
    governor = after_report(governor, FIFTY, replace(report("b"), calls=refused), 1.0)
    assert governor.breakers["openai/typo"].is_open


def test_the_trial_goes_to_one_worker_that_has_a_probe_of_the_model() -> None:
    refused = (CallRecord("openai/typo", ProbeErrorCode.AUTH, 1.0),) * 5
    governor = after_report(Governor(), FIFTY, replace(report("a"), calls=refused), 1.0)
    governor = after_report(governor, FIFTY, report("a"), 40.0)
    assert governor.breakers["openai/typo"].trial_of is None
    for worker_id in ("b", "c"):
        governor = after_report(governor, FIFTY, replace(report(worker_id), models=frozenset({"openai/typo"})), 41.0)
    assert governor.breakers["openai/typo"].trial_of == "b"


def test_models_without_failures_are_not_remembered() -> None:
    answered = tuple(CallRecord(f"openai/{n}", None, 1.0) for n in range(50))
    assert after_report(Governor(), FIFTY, replace(report(), calls=answered), 1.0).breakers == {}
