"""Requests that wait, counted over all instances of the functions."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from botocore.exceptions import ClientError

from cupel_core.domain.access import AccessRole, Caller
from cupel_core.store import slots, versioned_items
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.access import waiting
from cupel_core.workspace.access.waiting import TooManyWaiting, may_wait

TOKEN = "tok_1"
pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture
def open_requests() -> Iterator[ExitStack]:
    """Requests that wait until the end of the test."""
    with ExitStack() as stack:
        yield stack


def caller(token: str = TOKEN, workspace: str = "acme") -> Caller:
    return Caller(workspace, AccessRole.VIEWER, token)


def wait(stack: ExitStack, *callers: Caller) -> list[bool]:
    return [stack.enter_context(may_wait(each, 20)) for each in callers]


def test_three_requests_of_a_token_may_wait(open_requests: ExitStack) -> None:
    assert wait(open_requests, *[caller()] * 5) == [True] * 3 + [False] * 2


def test_ten_requests_of_a_workspace_may_wait_however_many_tokens_it_has(open_requests: ExitStack) -> None:
    callers = [caller(f"tok_{number}") for number in range(60)]
    assert wait(open_requests, *callers).count(True) == 10


def test_another_workspace_may_wait_beside_one_with_sixty_readers(open_requests: ExitStack) -> None:
    wait(open_requests, *(caller(f"tok_{number}") for number in range(60)))
    assert wait(open_requests, caller(workspace="other")) == [True]


def test_a_request_that_has_ended_makes_room(open_requests: ExitStack) -> None:
    for _ in range(5):
        with may_wait(caller(), 20) as is_permitted:
            assert is_permitted
    assert wait(open_requests, *[caller()] * 3) == [True] * 3


def test_a_request_that_fails_makes_room(open_requests: ExitStack) -> None:
    for _ in range(3):
        with pytest.raises(RuntimeError), may_wait(caller(), 20):
            raise RuntimeError
    assert wait(open_requests, *[caller()] * 3) == [True] * 3


def test_requests_of_many_workspaces_are_bounded_by_the_stack(
    open_requests: ExitStack, monkeypatch: pytest.MonkeyPatch, cloud: Settings
) -> None:
    monkeypatch.setenv("MAX_WAITING_REQUESTS", "25")
    settings.cache_clear()
    callers = [caller(f"tok_{number % 4}", f"ws{number // 12}") for number in range(60)]
    assert wait(open_requests, *callers) == ([True] * 10 + [False] * 2) * 2 + [True] * 5 + [False] * 31
    assert not slots.change(slots.waiting_requests("ws4"), lambda taken: taken).value.taken
    del cloud


def test_a_request_that_the_stack_refuses_takes_no_room_of_its_workspace(
    open_requests: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_WAITING_REQUESTS", "1")
    settings.cache_clear()
    assert wait(open_requests, caller(workspace="other"), *[caller()] * 5) == [True] + [False] * 5
    assert not slots.change(slots.waiting_requests("acme"), lambda taken: taken).value.taken


def test_a_request_does_not_wait_if_the_list_cannot_be_changed(
    open_requests: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "GetItem")

    monkeypatch.setattr(versioned_items, "read", refuse)
    assert wait(open_requests, caller()) == [False]


def test_a_request_to_others_is_refused_beside_three_that_wait(open_requests: ExitStack) -> None:
    wait(open_requests, *[caller()] * 3)
    with pytest.raises(TooManyWaiting) as refusal, waiting.waiting(caller()):
        pytest.fail("was sent")
    assert (refusal.value.status, refusal.value.retry_after) == (429, 5)
