"""Models that answer after a while, fail, hang or ask to wait; and the book of every call that was made."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply, Role, Usage
from cupel_core.providers.errors import ProviderError
from tests.simulation.faults import Fault
from tests.simulation.scheduler import Invocation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

_DECISION = '{"decisionCode": "3", "decisionText": "It was a three."}'
_NONSENSE = "nonsense"
_FAILURES = (ErrorCode.RATE_LIMITED, ErrorCode.PROVIDER_ERROR, ErrorCode.NETWORK, *(ErrorCode.INVALID_REQUEST,) * 2)


class Turn(NamedTuple):
    """Which call a call is."""

    model: str
    scenario_id: str
    repeat: int
    number: int


@dataclass
class Call:
    turn: Turn
    invocation: Invocation
    began_at: float
    generation: int
    is_over: bool = False
    was_answered: bool = False


class Models:
    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self._calls: dict[Turn, list[Call]] = defaultdict(list)
        self.made = 0
        self.tells_apart = False
        """Whether no two conversations of the run begin alike."""
        self._rng = cloud.world.rng
        self._latency = self._rng.choice((0.1, 0.5, 3.0))

    async def complete(self, _: Any, model: str, conversation: Conversation, timeout_seconds: float) -> Reply:
        if conversation.json_schema is not None:
            return await self._answer_aside(model, conversation)
        call = self._begin(model, conversation)
        try:
            await asyncio.sleep(self._rng.expovariate(1 / self._latency) + 0.01)
            await self._hang_perhaps(timeout_seconds)
            self._fail_perhaps()
            call.was_answered = True
        finally:
            call.is_over = True
        self._cloud.world.log(f"model answered {call.turn}")
        return Reply(f"Rating: {self._rng.randint(1, 5)}", "1", Usage(1, 1))

    async def _answer_aside(self, model: str, conversation: Conversation) -> Reply:
        """As the judge of a decision, the judge of a conversation, or the user."""
        assert conversation.json_schema is not None
        wanted: Any = conversation.json_schema["properties"]
        call = None if "decisionCode" in wanted else self._begin_aside(model, conversation)
        try:
            await asyncio.sleep(self._rng.uniform(0, 1))
            self._fail_perhaps()
            text = self._said_aside(wanted)
            if call is not None:
                call.was_answered = text != _NONSENSE  # There is nothing in it to be kept.
        finally:
            if call is not None:
                call.is_over = True
        return Reply(text, "1", Usage(1, 1))

    def _said_aside(self, wanted: Any) -> str:
        if "decisionCode" in wanted:
            return _DECISION
        if self._rng.random() < 0.05:
            return _NONSENSE
        if "content" in wanted:
            return '{"content": "Go on."}'
        success, failure = self._rng.random() < 0.4, self._rng.random() < 0.2
        verdict = {"successMet": success, "failureMet": failure, "confidence": 1.0, "reasoning": "so it is"}
        return orjson.dumps(verdict).decode()

    def _begin_aside(self, model: str, conversation: Conversation) -> Call:
        """Which conversation it is about only its words tell: enough where no two are alike, and asked once."""
        current = self._cloud.world.current
        assert current is not None
        told = conversation.messages[1].content
        turn = Turn(model, told, 0, len(conversation.messages))
        call = Call(turn, current.invocation, self._cloud.world.now, self._cloud.laws.generation)
        self._cloud.laws.check_call(call, self._calls[turn] if self.tells_apart else (), is_aside=True)
        self._calls[turn].append(call)
        self.made += 1
        return call

    def calls(self, model: str, scenario_id: str, repeat: int, number: int) -> list[Call]:
        return self._calls[Turn(model, scenario_id, repeat, number)]

    def _begin(self, model: str, conversation: Conversation) -> Call:
        current = self._cloud.world.current
        assert current is not None
        answers = sum(message.role is Role.ASSISTANT for message in conversation.messages)
        turn = Turn(model, conversation.case.scenario_id, conversation.case.repeat, answers)
        self._cloud.world.log(f"model call {turn}")
        call = Call(turn, current.invocation, self._cloud.world.now, self._cloud.laws.generation)
        self._cloud.laws.check_call(call, self._calls[turn])
        self._calls[turn].append(call)
        self.made += 1
        return call

    async def _hang_perhaps(self, timeout_seconds: float) -> None:
        if self._cloud.faults.happens(Fault.MODEL_HANGS, self._cloud.faults.models / 20):
            await asyncio.sleep(timeout_seconds)
            raise ProviderError(ErrorCode.TIMEOUT, "no answer")

    def _fail_perhaps(self) -> None:
        faults = self._cloud.faults
        if faults.happens(Fault.MODEL_FAILS, faults.models):
            raise ProviderError(self._rng.choice(_FAILURES), "a simulated failure")
        if faults.happens(Fault.MODEL_WAITS, faults.waits):
            raise ProviderError(ErrorCode.RATE_LIMITED, "wait", retry_after=self._rng.choice((1.0, 25.0, 120.0)))
