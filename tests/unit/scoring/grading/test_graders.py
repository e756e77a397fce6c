"""Graders wait for a free slot, and no call starts once the run was stopped; embeddings included."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.criteria import evaluate_criteria
from cupel_core.scoring.grading.grader import Grader
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.registry import embed_texts

MESSAGES = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "!"))
VERDICT = '{"successMet": true, "failureMet": false, "confidence": 1, "reasoning": "so"}'


class Stopped(Exception):
    pass


async def open_run() -> None:
    return


async def stopped_run() -> None:
    raise Stopped


class CountingModel:
    """Replies only after every other call that may start has started, and counts the calls in flight."""

    def __init__(self) -> None:
        self.in_flight = self.max_in_flight = self.calls = 0

    async def __call__(self, *_: object) -> Reply:
        self.calls += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        for _turn in range(5):
            await asyncio.sleep(0)
        self.in_flight -= 1
        return Reply(VERDICT)


def graders(
    attempt: Attempt = complete,
    *,
    limiter: ConcurrencyLimiter | None = None,
    workspace: str = "ws",
    parallel: int = 50,
    before_call: Callable[[], Awaitable[None]] = open_run,
) -> GraderFactory:
    return GraderFactory(
        workspace=workspace,
        config=GraderConfig(judge_model="sim/judge", embedding_model="sim/words"),
        accounts={"sim": Account("sim", "", max_parallel_requests=parallel)},
        limiter=limiter or ConcurrencyLimiter(),
        call_timeout_seconds=1.0,
        max_wait_seconds=1.0,
        before_call=before_call,
        attempt=attempt,
        rng=Random(1),
    )


async def is_passed(grader: Grader) -> bool:
    return (await evaluate_criteria(grader, MESSAGES, Criteria("it answers"))).value.success_met


async def test_no_more_calls_are_in_flight_than_the_account_allows() -> None:
    model = CountingModel()
    factory = graders(model, parallel=3)
    assert all(await asyncio.gather(*(is_passed(factory.judge()) for _ in range(10))))
    assert (model.max_in_flight, model.calls) == (3, 10)


async def test_factories_with_one_limiter_share_its_limit() -> None:
    model, limiter = CountingModel(), ConcurrencyLimiter(2)
    factories = [graders(model, limiter=limiter) for _ in range(5)]
    await asyncio.gather(*(is_passed(factory.judge()) for factory in factories))
    assert (model.max_in_flight, model.calls) == (2, 5)


async def test_workspaces_do_not_wait_for_each_other() -> None:
    model, limiter = CountingModel(), ConcurrencyLimiter()
    factories = [graders(model, limiter=limiter, workspace=name, parallel=1) for name in ("ws_a", "ws_b")]
    await asyncio.gather(*(is_passed(factory.judge()) for factory in factories))
    assert model.max_in_flight == 2


async def test_no_judge_is_called_once_the_run_was_stopped() -> None:
    model = CountingModel()
    with pytest.raises(Stopped):
        await is_passed(graders(model, before_call=stopped_run).judge())
    assert model.calls == 0


async def test_replies_of_judges_and_simulated_users_have_the_configured_limit() -> None:
    limits: list[int | None] = []

    async def attempt(_account: Account, _model: str, request: ModelRequest, _timeout_seconds: float) -> Reply:
        limits.append(request.parameters.max_output_tokens)
        return Reply(VERDICT)

    for limit in (None, 900):
        factory = graders(attempt)
        limited = replace(factory, config=replace(factory.config, judge_max_output_tokens=limit))
        assert await is_passed(limited.judge())
        assert await is_passed(limited.user_simulator())
    assert limits == [None, None, 900, 900]


async def test_nothing_is_embedded_once_the_run_was_stopped() -> None:
    with pytest.raises(Stopped):
        await embed_texts(graders(before_call=stopped_run).embedder(), ("one",), [])


def test_a_model_without_an_account_is_refused() -> None:
    with pytest.raises(Invalid, match='unknown provider for model "nobody/knows"; known providers: '):
        graders().grader("nobody/knows")


def test_the_simulated_user_is_the_judge_when_no_persona_model_is_configured() -> None:
    assert graders().user_simulator().model == "sim/judge"
