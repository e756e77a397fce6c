"""Injected bugs of chats are detected: each breaks an invariant within a bounded number of schedules."""

import pytest

from tests.simulation.chats.mutations import CHAT_MUTATIONS
from tests.simulation.chats.schedule import run_chat_schedule
from tests.simulation.harness import Patches

_MAX_SCHEDULES = 500
"""Most are found within 50."""


@pytest.mark.parametrize("name", CHAT_MUTATIONS)
def test_an_injected_bug_is_detected(patches: Patches, name: str) -> None:
    mutation = CHAT_MUTATIONS[name]
    mutation.inject(patches)
    seeds = range(mutation.first_seed, mutation.first_seed + _MAX_SCHEDULES)
    violations = (run_chat_schedule(seed, conditions=mutation.conditions).violation for seed in seeds)
    assert any(violations)
