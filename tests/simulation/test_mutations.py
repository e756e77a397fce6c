"""Injected bugs are detected: each mutation breaks an invariant within a bounded number of schedules."""

import pytest

from tests.simulation.harness import Patches
from tests.simulation.mutations import MAX_SCHEDULES, MUTATIONS
from tests.simulation.schedule import run_schedule


@pytest.mark.parametrize("name", MUTATIONS)
def test_an_injected_bug_is_detected(patches: Patches, name: str) -> None:
    mutation = MUTATIONS[name]
    mutation.inject(patches)
    seeds = range(mutation.first_seed, mutation.first_seed + MAX_SCHEDULES)
    violations = (run_schedule(seed, conditions=mutation.conditions).violation for seed in seeds)
    assert any(violations)
