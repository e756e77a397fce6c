"""A conversation held without any cloud: a target, a judge and a user that answer by script, and a memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson
import pytest

from cupel_core.conversations.runner import Task, hold
from cupel_core.conversations.turn import Target
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.turns.conversation import Criteria, Dialogue
from cupel_core.domain.turns.model_request import Conversation, Message, Reply, Role, Usage
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.providers.account import Account

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ACCOUNT = Account("custom", "http://127.0.0.1:1")
type Script = Sequence[str | dict[str, Any] | Exception]


class Voice:
    """Says one line of its script at each call, and the last one ever after."""

    def __init__(self, lines: Script) -> None:
        self.lines = list(lines)
        self.heard: list[Conversation] = []

    async def __call__(self, _: Account, model: str, conversation: Conversation, __: float) -> Reply:
        line = self.lines[min(len(self.heard), len(self.lines) - 1)]
        self.heard.append(conversation)
        if isinstance(line, Exception):
            raise line
        text = line if isinstance(line, str) else orjson.dumps(line).decode()
        return Reply(text, f"{model}-1", Usage(10, 5), "stop")


class Notes:
    """A memory that also tells what was kept."""

    def __init__(self, before: Dialogue | None = None) -> None:
        self.kept: list[Dialogue] = []
        self._before = before

    async def recall(self) -> Dialogue | None:
        return self.kept[-1] if self.kept else self._before

    async def keep(self, dialogue: Dialogue) -> None:
        self.kept.append(dialogue)


def verdict(success: bool = False, failure: bool = False) -> dict[str, Any]:
    return {"successMet": success, "failureMet": failure, "confidence": 0.9, "reasoning": "as it was said"}


@dataclass
class Stage:
    """What a probe is held with; `play` holds it."""

    target: Script = ("I can help.",)
    judge: Script = (verdict(),)
    user: Script = ({"content": "And then?"},)
    criteria: Criteria = field(default_factory=lambda: Criteria("booked", "refused"))
    messages: tuple[Message, ...] = (Message(Role.USER, "Book me a haircut."),)
    max_messages: int | None = 6
    judged: bool = True
    content: Content = field(default_factory=Content)
    scenario: dict[str, Any] = field(default_factory=dict)
    persona: Persona | None = None
    notes: Notes = field(default_factory=Notes)

    def __post_init__(self) -> None:
        self.voices = {"target": Voice(self.target), "judge": Voice(self.judge), "user": Voice(self.user)}

    async def play(self) -> Outcome:
        panel = Panel(Evaluation(*(("custom/judge", "custom/user") if self.judged else ())), self._grader)
        scenario = Scenario(
            "scn_1", "one", self.messages, criteria=self.criteria, max_messages=self.max_messages, **self.scenario
        )
        task = Task(0, scenario, self.content, panel, "thread-1", persona=self.persona)
        target = Target(ACCOUNT, "custom/target", 1.0, Random(1), attempt=self.voices["target"])
        return await hold(task, target, self.notes, lambda: NOW, None)

    def heard(self, who: str) -> list[Conversation]:
        return self.voices[who].heard

    def _grader(self, model: str) -> Grader:
        return Grader(ACCOUNT, model, 1.0, 1.0, Random(1), attempt=self.voices[model.removeprefix("custom/")])


@pytest.fixture
def stage() -> Callable[..., Stage]:
    return Stage
