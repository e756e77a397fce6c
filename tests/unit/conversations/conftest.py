"""Conversations without a cloud: scripted models for target, judge and user, and checkpoints in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson
import pytest

from cupel_core.conversations.runner import run_conversation
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.tool_execution import ToolExecutor
from cupel_core.conversations.turn import CalledTarget
from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply, Usage
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.account import Account
from cupel_core.sandbox import pool
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ACCOUNT = Account("custom", "http://127.0.0.1:1")
type Script = Sequence[str | dict[str, Any] | Reply | Exception]


class ScriptedModel:
    """Replies with one line of its script per call, and repeats the last one."""

    def __init__(self, lines: Script) -> None:
        self.lines = list(lines)
        self.requests: list[ModelRequest] = []

    async def __call__(self, _: Account, model: str, conversation: ModelRequest, __: float) -> Reply:
        line = self.lines[min(len(self.requests), len(self.lines) - 1)]
        self.requests.append(conversation)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        text = line if isinstance(line, str) else orjson.dumps(line).decode()
        return Reply(text, f"{model}-1", Usage(10, 5), "stop")


class RecordedCheckpoints:
    """Checkpoints in memory; `saved` lists every one."""

    def __init__(self, before: ConversationState | None = None) -> None:
        self.saved: list[ConversationState] = []
        self._before = before

    async def load(self) -> ConversationState | None:
        return self.saved[-1] if self.saved else self._before

    async def save(self, dialogue: ConversationState) -> None:
        self.saved.append(dialogue)


def verdict(success: bool = False, failure: bool = False) -> dict[str, Any]:
    return {"successMet": success, "failureMet": failure, "confidence": 0.9, "reasoning": "as the messages show"}


@dataclass
class ConversationHarness:
    """Everything a conversation needs; `run` runs it."""

    target: Script = ("I can help.",)
    judge: Script = (verdict(),)
    user: Script = ({"content": "And then?"},)
    criteria: Criteria = field(default_factory=lambda: Criteria("booked", "refused"))
    messages: tuple[Message, ...] = (Message(MessageRole.USER, "Book me a haircut."),)
    max_messages: int | None = 6
    judged: bool = True
    config: GraderConfig | None = None
    """By default a judge and a persona model if `judged`, else neither."""
    content: Content = field(default_factory=Content)
    scenario: dict[str, Any] = field(default_factory=dict)
    persona: Persona | None = None
    checkpoints: RecordedCheckpoints = field(default_factory=RecordedCheckpoints)
    params: dict[str, Any] = field(default_factory=dict)
    tool_executor: ToolExecutor | None = None
    profile: RunProfile | None = None
    operation: Script = ("a plan",)
    account: Account = ACCOUNT

    def __post_init__(self) -> None:
        self.models = {
            "target": ScriptedModel(self.target),
            "judge": ScriptedModel(self.judge),
            "user": ScriptedModel(self.user),
            "operation": ScriptedModel(self.operation),
        }

    async def run(self) -> Outcome:
        graders = GraderFactory(
            workspace="ws_a",
            config=self.config or GraderConfig(*(("custom/judge", "custom/user") if self.judged else ())),
            accounts={"custom": self.account},
            limiter=ConcurrencyLimiter(),
            call_timeout_seconds=1.0,
            max_wait_seconds=1.0,
            attempt=self._grade,
            rng=Random(1),
        )
        scenario = Scenario(
            "scn_1", "one", self.messages, criteria=self.criteria, max_messages=self.max_messages, **self.scenario
        )
        spec = ConversationSpec(
            0,
            scenario,
            self.content,
            graders,
            "thread-1",
            persona=self.persona,
            params=self.params,
            tool_executor=self.tool_executor,
            profile=self.profile,
        )
        target = CalledTarget(self.account, "custom/target", 1.0, Random(1), attempt=self.models["target"])
        return await run_conversation(spec, target, self.checkpoints, lambda: NOW, None)

    def requests_to(self, name: str) -> list[ModelRequest]:
        return self.models[name].requests

    async def _grade(self, account: Account, model: str, conversation: ModelRequest, timeout_seconds: float) -> Reply:
        scripted = self.models[model.removeprefix("custom/")]
        return await scripted(account, model, conversation, timeout_seconds)


@pytest.fixture
def harness() -> Callable[..., ConversationHarness]:
    return ConversationHarness


@pytest.fixture(autouse=True)
def _fresh_sandbox() -> Iterator[None]:
    """No test uses up what another one needs."""
    pool.reset_budgets()
    yield
    pool.reset_budgets()
