"""Graders whose model sends scripted replies."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import orjson
import pytest

from cupel_core.domain.conversations.model_request import ModelRequest, Reply, Usage
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import PROVIDERS
from cupel_core.providers.account import Account
from cupel_core.sandbox import pool
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory

type ScriptedReply = Any


class ScriptedGrader:
    """Replies in the given order and repeats the last reply; an exception is raised."""

    def __init__(self, *replies: ScriptedReply) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []
        self.models: list[str] = []

    async def attempt(self, _: Account, model: str, conversation: ModelRequest, __: float) -> Reply:
        self.requests.append(conversation)
        self.models.append(model)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else orjson.dumps(reply).decode()
        return Reply(text, usage=Usage(10, 5))

    @property
    def material(self) -> list[Any]:
        """The material it was given to grade, call by call."""
        return [orjson.loads(text) for text in self.user_messages]

    @property
    def user_messages(self) -> list[str]:
        return [request.messages[1].content for request in self.requests]

    def graders(self, config: GraderConfig | None = None, **more: Any) -> GraderFactory:
        return GraderFactory(
            workspace="ws_a",
            config=config or GraderConfig(judge_model="sim/steady", embedding_model="sim/words"),
            accounts={provider: Account(provider, "") for provider in PROVIDERS},
            limiter=ConcurrencyLimiter(),
            call_timeout_seconds=5.0,
            max_wait_seconds=0.0,
            attempt=self.attempt,
            rng=Random(1),
            **more,
        )


@pytest.fixture(autouse=True)
def _unused_budgets() -> Iterator[None]:
    """Every test starts with its workspaces' budgets of the sandbox unused."""
    pool.reset_budgets()
    yield
    pool.reset_budgets()


@pytest.fixture
def grader_of() -> Callable[..., ScriptedGrader]:
    return ScriptedGrader
