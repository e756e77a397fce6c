"""Random 429s do not lower an account's limit, and a real limit is learned within seconds."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import Governor, Limits, WorkerReport, after_report, effective_limit
from cupel_core.domain.limits.throttling import MAX_CALLS, RecentCalls
from cupel_core.domain.runs.run import Priority

PARALLEL = 50
WORKERS = ("a", "b")


def are_throttled(throttles: int, calls: int) -> bool:
    return RecentCalls().with_calls(calls, throttles, 0.0).are_throttled


def report_of(worker_id: str, governor: Governor, throttled: list[bool], now: float) -> WorkerReport:
    calls = tuple(CallRecord("openai/m", ProbeErrorCode.RATE_LIMITED if each else None, now) for each in throttled)
    lease = governor.leases.get(worker_id)
    return WorkerReport(worker_id, Priority.NORMAL, PARALLEL, lease.granted if lease else 0, calls)


@pytest.mark.parametrize(("throttles", "calls"), [(1, 1), (1, 10), (2, 4), (3, 10), (10, 100), (20, 150)])
def test_a_few_throttled_calls_say_nothing(throttles: int, calls: int) -> None:
    assert not are_throttled(throttles, calls)


@pytest.mark.parametrize(("throttles", "calls"), [(3, 3), (4, 5), (8, 20), (24, 100), (40, 200), (800, 1_000)])
def test_a_high_share_of_throttled_calls_is_significant(throttles: int, calls: int) -> None:
    assert are_throttled(throttles, calls)


def test_throttled_calls_of_several_reports_add_up() -> None:
    recent = RecentCalls()
    for second in range(10):
        recent = recent.with_calls(4, 2, float(second))
    assert recent.are_throttled


def test_throttled_calls_of_a_minute_ago_are_forgotten() -> None:
    recent = RecentCalls().with_calls(20, 8, 0.0)
    assert recent.are_throttled
    assert not recent.with_calls(0, 0, 60.0).are_throttled


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.floats(0, 100)), max_size=20))
def test_the_window_is_bounded_and_never_has_more_throttles_than_calls(reports: list[tuple[int, int, float]]) -> None:
    recent, now = RecentCalls(), 0.0
    for calls, throttles, wait in reports:
        now += wait
        recent = recent.with_calls(calls, min(calls, throttles), now)
    assert recent.throttles <= recent.calls + 1e-9
    assert recent.calls <= MAX_CALLS + 1e-9


@pytest.mark.parametrize("calls_per_report", [1, 3, 12, 60, 250])
def test_five_percent_of_random_429_never_lower_the_limit(calls_per_report: int) -> None:
    for seed in range(8):
        rng, governor, now = Random(seed), Governor(), 0.0
        for number in range(200):
            now += 1.0
            throttled = [rng.random() < 0.05 for _ in range(calls_per_report)]
            governor = after_report(
                governor, Limits(PARALLEL), report_of(WORKERS[number % 2], governor, throttled, now), now
            )
            assert governor.learned is None


def limits_learned(server_limit: int, seconds: int) -> list[int]:
    """The limit after each second. Calls take 0.2 s, and those beyond the server's limit are throttled."""
    governor, limits = Governor(), []
    for now in map(float, range(1, seconds + 1)):
        worker_id = WORKERS[round(now) % 2]
        in_flight = sum(lease.granted for lease in governor.live_leases(now).values())
        share = max(0.0, 1 - server_limit / in_flight) if in_flight else 0.0
        own = governor.leases[worker_id].granted if worker_id in governor.leases else 0
        throttled = [position < share * own * 10 for position in range(own * 10)]
        governor = after_report(governor, Limits(PARALLEL), report_of(worker_id, governor, throttled, now), now)
        limits.append(effective_limit(governor, PARALLEL))
    return limits


@pytest.mark.parametrize(("server_limit", "seconds"), [(1, 25), (5, 18), (10, 14), (20, 11), (30, 8)])
def test_a_real_limit_is_learned_within_seconds(server_limit: int, seconds: int) -> None:
    limits = limits_learned(server_limit, seconds)
    assert server_limit // 3 <= min(limits) <= 1.2 * server_limit
