"""When a run that makes no progress is dispatched again."""

from datetime import timedelta

from cupel_core.domain.runs.stalls import FIRST_PATIENCE, Stall
from tests.started_runs import NOW

STALL = Stall(5, NOW)


def test_progress_starts_the_wait_anew() -> None:
    later = NOW + FIRST_PATIENCE
    assert STALL.observe(6, later) == Stall(6, later)
    assert STALL.redispatched(NOW).observe(6, later).redispatches == 0


def test_without_progress_it_is_due_after_the_first_patience() -> None:
    assert not STALL.observe(5, NOW + timedelta(minutes=1)).is_due(NOW + FIRST_PATIENCE - timedelta(seconds=1))
    assert STALL.is_due(NOW + FIRST_PATIENCE)


def test_the_wait_doubles_with_each_dispatch() -> None:
    stall = STALL.redispatched(NOW).redispatched(NOW)
    assert not stall.is_due(NOW + 3 * FIRST_PATIENCE)
    assert stall.is_due(NOW + 4 * FIRST_PATIENCE)
