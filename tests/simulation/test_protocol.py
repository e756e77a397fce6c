"""The run protocol keeps its invariants: 2,000 schedules of crashes, lost replies, duplicates and an owner's hand.

A failing seed prints how to replay it. `make simulate SCHEDULES=100000` looks further.
"""

import pytest

from tests.simulation.schedule import carry_out

_SCHEDULES = 2_000
_PART = 250


@pytest.mark.parametrize("first", range(0, _SCHEDULES, _PART))
def test_no_schedule_breaks_an_invariant(stage: None, first: int) -> None:
    results = [carry_out(seed) for seed in range(first, first + _PART)]
    broken = [f"{each.violation} (make simulate SEED={each.seed})" for each in results if each.violation]
    assert not broken


def test_a_seed_is_the_same_schedule_every_time(stage: None) -> None:
    traces: list[list[str]] = [[], []]
    for trace in traces:
        carry_out(7, trace.append)
    assert traces[0] == traces[1]
