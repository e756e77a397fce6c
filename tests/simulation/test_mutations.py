"""Deliberate bugs are found: each mutation breaks an invariant within a bounded number of schedules."""

import pytest

from tests.simulation.harness import Patches
from tests.simulation.mutations import MUTATIONS
from tests.simulation.schedule import carry_out

_MOST_SCHEDULES = 1_500
"""Most are found within 50, the rarest within some hundreds."""


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_deliberate_bug_is_found(patches: Patches, name: str) -> None:
    mutation = MUTATIONS[name]
    mutation.put_in(patches)
    found = (carry_out(seed, conditions=mutation.conditions).violation for seed in range(_MOST_SCHEDULES))
    assert any(found)
