"""The emulator and all workers are killed 50 times while they are used: nothing that was acknowledged is lost."""

import pytest

from tests.kills import KilledStack, killed_stack

KILLS = 50
"""One more follows, while messages are in flight."""
killed = pytest.fixture(scope="module")(killed_stack)


def test_nothing_acknowledged_is_lost_and_no_recorded_call_is_repeated(killed: KilledStack) -> None:
    assert killed.problems == []


def test_the_stack_was_in_use(killed: KilledStack) -> None:
    assert min(killed.users.counts[each] for each in ("edits", "starts")) > 0


def test_lost_messages_are_sent_again(killed: KilledStack) -> None:
    assert killed.recoveries["redispatched"] > 0


def test_ended_runs_were_retried(killed: KilledStack) -> None:
    assert killed.users.counts["retries"] > 0


def test_lost_executions_are_started_again(killed: KilledStack) -> None:
    assert killed.recoveries["finish-started"] > 0
