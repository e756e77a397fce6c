"""When a commit is due: with enough outcomes, or after two seconds."""

import asyncio
from typing import Any

import pytest

from cupel_core.runs.probing.committer import Committer, FinishedProbe
from cupel_core.runs.probing.invocation import InvocationTotals


class Clock:
    now = 0.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    return clock


@pytest.fixture
def committer(clock: Clock) -> Committer:
    return Committer(InvocationTotals())


def finish(committer: Committer, count: int) -> None:
    claimed: Any = None
    for index in range(count):
        committer.add(FinishedProbe(claimed, index, None))


def test_nothing_is_due_without_outcomes(committer: Committer, clock: Clock) -> None:
    clock.now = 100.0
    assert not committer.is_due(50)


@pytest.mark.parametrize(
    ("finished", "in_flight", "is_due"),
    [(49, 50, False), (50, 50, True), (99, 400, False), (100, 400, True), (1, 0, True)],
)
def test_enough_outcomes_are_due(committer: Committer, finished: int, in_flight: int, is_due: bool) -> None:
    finish(committer, finished)
    assert committer.is_due(in_flight) is is_due


def test_an_outcome_is_due_before_two_seconds_have_passed(committer: Committer, clock: Clock) -> None:
    finish(committer, 1)
    clock.now = 1.6
    finish(committer, 1)
    assert not committer.is_due(50)
    clock.now = 1.7
    assert committer.is_due(50)


def test_no_call_starts_while_an_outcome_has_waited_for_long(committer: Committer, clock: Clock) -> None:
    finish(committer, 1)
    clock.now = 5.0
    assert committer.may_start_calls
    clock.now = 5.1
    assert not committer.may_start_calls
