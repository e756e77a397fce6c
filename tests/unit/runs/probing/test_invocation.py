"""What a worker measures of itself, and the limits of a function that follow from how much it does at a time."""

from collections.abc import Iterator

import pytest

from cupel_core.base import event_loop
from cupel_core.domain.limits.worker_capacity import MAX_CALLS
from cupel_core.providers.bedrock import MAX_THREADS
from cupel_core.providers.connections import MAX_CONNECTIONS
from cupel_core.runs.probing.invocation import LoadMeter, resident_mb
from cupel_core.store import clients
from cupel_core.store.settings import Settings

OPEN_FILES_OF_A_FUNCTION = 1_024
"""https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""
AWS_SERVICES = 4


def ticks(*values: float) -> Iterator[float]:
    return iter(values)


@pytest.mark.parametrize(("memory_mb", "share"), [(1_769, 0.25), (3_538, 0.25), (442, 1.0)])
def test_the_load_is_the_part_of_the_processor_time_that_the_function_has(memory_mb: int, share: float) -> None:
    clock, processor_clock = ticks(100.0, 102.0), ticks(7.0, 7.5)
    meter = LoadMeter(memory_mb, clock.__next__, processor_clock.__next__)
    assert meter.measure().processor == pytest.approx(share, abs=0.01)


def test_each_measurement_starts_at_the_last_one() -> None:
    clock, processor_clock = ticks(0.0, 2.0, 4.0), ticks(0.0, 2.0, 2.0)
    meter = LoadMeter(1_769, clock.__next__, processor_clock.__next__)
    assert [meter.measure().processor, meter.measure().processor] == [1.0, 0.0]


def test_the_memory_is_that_of_the_process() -> None:
    before = resident_mb()
    held = bytes(50_000_000).replace(b"\0", b"1")
    assert resident_mb() - before > 0.8 * len(held) / 1e6


def test_no_call_of_an_account_waits_for_a_connection_or_a_thread() -> None:
    assert min(MAX_CONNECTIONS, MAX_THREADS) > MAX_CALLS


def test_all_connections_of_a_worker_are_within_the_open_files_of_a_function() -> None:
    pools_of_models = 2
    assert pools_of_models * MAX_CONNECTIONS + AWS_SERVICES * event_loop.MAX_THREADS < OPEN_FILES_OF_A_FUNCTION


def test_every_thread_has_a_connection_to_aws(cloud: Settings) -> None:
    assert clients.dynamodb().meta.config.max_pool_connections == event_loop.MAX_THREADS
