"""The run protocol keeps its invariants in schedules of crashes, lost replies, duplicates and control actions.

The failure message says how to replay a failing seed. `make simulate SCHEDULES=100000` runs more schedules.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.domain.runs.run import RunStatus
from cupel_core.runs.finishing import phases
from tests.effort import IS_SEARCHING
from tests.simulation.harness import Patches
from tests.simulation.mutations import fail_analyses
from tests.simulation.schedule import run_schedule

_SCHEDULES = 100 if IS_SEARCHING else 40
_CHUNK = 20


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


def test_an_analysis_that_always_fails_is_recorded_as_failed(patches: Patches) -> None:
    fail_analyses(patches)
    assert [result.violation for result in map(run_schedule, range(5)) if result.violation] == []


def test_a_run_whose_finishing_gives_up_need_not_have_counted_its_last_summaries(patches: Patches) -> None:
    """Here its tasks die when they have counted a summary in its leaf and not above."""

    def die(*_: Any) -> None:
        raise RetryableError("died")

    patches.set(phases, "barrier", SimpleNamespace(**vars(phases.barrier) | {"propagate": die}))
    results = [run_schedule(seed) for seed in range(15)]
    assert [result.violation for result in results if result.violation] == []
    assert RunStatus.FAILED in {result.status for result in results}
