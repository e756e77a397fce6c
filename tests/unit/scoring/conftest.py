"""A panel whose judge answers what a test gives it."""

from collections.abc import Callable
from random import Random
from typing import Any

import orjson
import pytest

from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.turns.model_request import Conversation, Reply, Usage
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.providers.account import Account

type Answer = Any


class Judge:
    """Answers in the given order, the last one again and again; an exception is raised."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Conversation] = []
        self.models: list[str] = []

    async def attempt(self, _: Account, model: str, conversation: Conversation, __: float) -> Reply:
        self.asked.append(conversation)
        self.models.append(model)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        return Reply(text, usage=Usage(10, 5))

    @property
    def material(self) -> list[str]:
        """What it was given to judge, call by call."""
        return [conversation.messages[1].content for conversation in self.asked]

    def panel(self, evaluation: Evaluation | None = None, **more: Any) -> Panel:
        models = Evaluation(judge_model="sim/steady", embedding_model="sim/words")
        return Panel(models if evaluation is None else evaluation, self.grader, **more)

    def grader(self, model: str) -> Grader:
        account = Account(model.partition("/")[0], "")
        return Grader(account, model, 5.0, 0.0, Random(1), self.attempt)


@pytest.fixture
def judge_of() -> Callable[..., Judge]:
    return Judge
