"""How long a run takes at least that limits its own pace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.pace import Pace


def test_conversations_share_the_slots_of_their_run() -> None:
    assert Pace(max_concurrency=3).min_seconds(60.0, 20) == 20.0


def test_fewer_conversations_than_slots_do_not_share_them() -> None:
    assert Pace(max_concurrency=50).min_seconds(60.0, 2) == 30.0


def test_a_gap_lies_between_two_starts_of_a_worker() -> None:
    assert Pace(stagger_ms=(200, 400)).min_seconds(0.0, 21) == pytest.approx(6.0)
    assert Pace(stagger_ms=(200, 400)).min_seconds(0.0, 1_000) == pytest.approx(29.7)


@given(st.floats(0, 1e6), st.integers(0, 1_000_000))
def test_a_run_without_limits_takes_as_long_as_its_providers(seconds: float, probes: int) -> None:
    assert Pace().min_seconds(seconds, probes) == 0.0
