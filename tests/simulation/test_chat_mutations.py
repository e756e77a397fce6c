"""Injected bugs of chats are detected: each breaks an invariant within a bounded number of schedules."""

import pytest

from tests.simulation.chats.mutations import CHAT_MUTATIONS
from tests.simulation.chats.schedule import run_chat_schedule
from tests.simulation.harness import Patches
from tests.simulation.mutations import MAX_SCHEDULES


@pytest.mark.parametrize("name", CHAT_MUTATIONS)
def test_an_injected_bug_is_detected(patches: Patches, name: str) -> None:
    mutation = CHAT_MUTATIONS[name]
    mutation.inject(patches)
    seeds = range(mutation.first_seed, mutation.first_seed + MAX_SCHEDULES)
    violations = (run_chat_schedule(seed, conditions=mutation.conditions).violation for seed in seeds)
    assert any(violations)
