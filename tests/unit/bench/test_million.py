"""What a run of a million probes may use."""

from dataclasses import replace

import pytest

from bench.million import Measurement, violated_bounds

SMALL = Measurement(
    probes=10_000, completed=10_000, seconds=20.0, cpu_seconds=30.0, emulator_mb=300.0, worker_mb=120.0, reads={}
)
LARGE = replace(SMALL, probes=1_000_000, completed=1_000_000, seconds=2_000.0, emulator_mb=800.0)


def test_a_large_run_in_proportion_violates_nothing() -> None:
    assert violated_bounds(SMALL, LARGE) == []


@pytest.mark.parametrize(
    ("large", "message"),
    [
        (replace(LARGE, completed=999_999), "1 probes did not complete"),
        (replace(LARGE, emulator_mb=6_001.0), "the embedded cloud used more than 6,000 MB"),
        (replace(LARGE, worker_mb=301.0), "a worker used more than 300 MB"),
        (replace(LARGE, seconds=2_500.0), "a probe took 1.25 times as long as in the small run"),
    ],
)
def test_a_violated_bound_is_named(large: Measurement, message: str) -> None:
    assert violated_bounds(SMALL, large) == [message]
