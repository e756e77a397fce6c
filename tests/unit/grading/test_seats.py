"""Judges take turns, and none is asked once its run has stopped; those that embed neither."""

import asyncio
from random import Random

import pytest

from cupel_core.domain.turns.conversation import Criteria
from cupel_core.domain.turns.model_request import Message, Reply, Role
from cupel_core.errors import Invalid
from cupel_core.grading.concurrency import Seats
from cupel_core.grading.criteria import evaluate_criteria
from cupel_core.grading.grader import Grader
from cupel_core.providers.account import Account
from cupel_core.scoring.similarity import vectors

SAID = (Message(Role.USER, "?"), Message(Role.ASSISTANT, "!"))
VERDICT = '{"successMet": true, "failureMet": false, "confidence": 1, "reasoning": "so"}'


class Stopped(Exception):
    pass


async def open_run() -> None:
    return


async def stopped_run() -> None:
    raise Stopped


class Judge:
    """Answers after everybody else who could has begun."""

    def __init__(self) -> None:
        self.at_once = self.most = self.calls = 0

    async def __call__(self, *_: object) -> Reply:
        self.calls += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        for _turn in range(5):
            await asyncio.sleep(0)
        self.at_once -= 1
        return Reply(VERDICT)


def account(parallel: int = 50) -> Account:
    return Account("sim", "", max_parallel_requests=parallel)


async def judged(grader: Grader) -> bool:
    return (await evaluate_criteria(grader, SAID, Criteria("it answers"))).value.success_met


async def test_no_more_judges_are_asked_at_a_time_than_the_account_allows() -> None:
    judge = Judge()
    seats = Seats(1.0, 1.0, Random(1), judge)
    graders = [seats.grader("ws", account(3), "sim/judge", open_run) for _ in range(10)]
    assert all(await asyncio.gather(*map(judged, graders)))
    assert (judge.most, judge.calls) == (3, 10)


async def test_workspaces_do_not_wait_for_each_other() -> None:
    judge = Judge()
    seats = Seats(1.0, 1.0, Random(1), judge)
    graders = [seats.grader(workspace, account(1), "sim/judge", open_run) for workspace in ("ws_a", "ws_b")]
    await asyncio.gather(*map(judged, graders))
    assert judge.most == 2


async def test_a_judge_is_not_asked_once_the_run_has_stopped() -> None:
    judge = Judge()
    grader = Seats(1.0, 1.0, Random(1), judge).grader("ws", account(), "sim/judge", stopped_run)
    with pytest.raises(Stopped):
        await judged(grader)
    assert judge.calls == 0


async def test_nothing_is_embedded_once_the_run_has_stopped() -> None:
    grader = Seats(1.0, 1.0, Random(1)).grader("ws", account(), "sim/words", stopped_run)
    with pytest.raises(Stopped):
        await vectors(grader, ("one",), [])


def test_a_model_of_no_known_account_is_refused() -> None:
    with pytest.raises(Invalid, match="nobody/knows"):
        Seats(1.0, 1.0).grader("ws", None, "nobody/knows", open_run)
