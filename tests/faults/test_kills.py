"""The emulator and all workers are killed 50 times while they are used: nothing that was acknowledged is lost."""

import pytest

from tests.integration.test_kill_all import (
    test_lost_messages_are_sent_again,
    test_nothing_acknowledged_is_lost_and_no_recorded_call_is_repeated,
    test_the_stack_was_in_use,
)
from tests.kills import KilledStack, killed_stack

__all__ = [
    "test_lost_messages_are_sent_again",
    "test_nothing_acknowledged_is_lost_and_no_recorded_call_is_repeated",
    "test_the_stack_was_in_use",
]

KILLS = 50
killed = pytest.fixture(scope="module")(killed_stack)


def test_ended_runs_were_retried(killed: KilledStack) -> None:
    assert killed.users.counts["retries"] > 0


def test_lost_executions_are_started_again(killed: KilledStack) -> None:
    assert killed.recoveries["finish-started"] > 0
