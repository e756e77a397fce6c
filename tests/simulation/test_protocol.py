"""The run protocol keeps its invariants: 1,000 schedules of crashes, lost replies, duplicates and control actions.

The failure message says how to replay a failing seed. `make simulate SCHEDULES=100000` runs more schedules.
"""

import pytest

from tests.simulation.schedule import run_schedule

_SCHEDULES = 500
_CHUNK = 250


@pytest.mark.parametrize("first", range(0, _SCHEDULES, _CHUNK))
def test_no_schedule_breaks_an_invariant(simulation: None, first: int) -> None:
    results = [run_schedule(seed) for seed in range(first, first + _CHUNK)]
    broken = [f"{result.violation} (make simulate SEED={result.seed})" for result in results if result.violation]
    assert not broken


@pytest.mark.parametrize("seed", [7, 92])
def test_a_seed_always_gives_the_same_schedule(simulation: None, seed: int) -> None:
    """In the schedule of seed 92, a judge asks to retry later, and the wait has a random jitter."""
    traces: list[list[str]] = [[], []]
    for trace in traces:
        run_schedule(seed, trace.append)
    assert traces[0] == traces[1]
