"""The model of the probe function's cost."""

import pytest

from bench.lambda_cost import estimate
from cupel_core.domain.limits.worker_capacity import MAX_CALLS


def test_waiting_for_calls_costs_their_time_divided_by_the_calls_in_flight() -> None:
    assert estimate(512, 50, 3.0, cpu_ms=2.0).gb_seconds == pytest.approx(0.5 * 3 / 25)


def test_a_busy_processor_costs_the_same_at_any_memory() -> None:
    cost = [estimate(memory_mb, 800, 1.0, cpu_ms=4.0).gb_seconds for memory_mb in (512, 1_024, 1_769)]
    assert cost == pytest.approx([cost[0]] * 3)


def test_a_worker_makes_at_most_as_many_calls_as_it_has_connections() -> None:
    assert estimate(10_240, 10_000, 30.0, cpu_ms=2.0).in_flight == pytest.approx(2 * MAX_CALLS)


def test_little_memory_carries_few_conversations() -> None:
    assert estimate(256, 800, 30.0, cpu_ms=2.0).in_flight == pytest.approx(2 * 110)
