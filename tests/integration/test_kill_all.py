"""The emulator and all workers are killed while they are used: nothing that was acknowledged is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.kills import KilledStack
from tests.stacks import ModelServer

KILLS = 2


@pytest.fixture(scope="module")
def killed(
    stack: LocalStack, stack_paths: StackPaths, api: Client, aws: Callable[[str], Any], model_server: ModelServer
) -> KilledStack:
    killed = KilledStack(stack, stack_paths, api, aws, model_server)
    killed.prepare()
    killed.kill(KILLS)
    print(killed.users.counts, killed.recoveries)
    return killed


def test_nothing_acknowledged_is_lost_and_no_recorded_call_is_repeated(killed: KilledStack) -> None:
    assert killed.problems == []


def test_the_stack_was_in_use(killed: KilledStack) -> None:
    assert min(killed.users.counts[each] for each in ("edits", "starts")) > 0


def test_lost_messages_are_sent_again(killed: KilledStack) -> None:
    assert killed.recoveries["redispatched"] + killed.recoveries["dispatched"] > 0
