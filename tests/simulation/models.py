"""Models that answer after a while, fail, hang or ask to wait; and the book of every call that was made."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.domain.conversation import Conversation, ErrorCode, Reply, Role, Usage
from shared.providers.errors import ProviderError
from tests.simulation.faults import Fault
from tests.simulation.scheduler import Invocation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

_VERDICT = '{"decisionCode": "3", "decisionText": "It was a three."}'
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
        self._rng = cloud.world.rng
        self._latency = self._rng.choice((0.1, 0.5, 3.0))

    async def complete(self, _: Any, model: str, conversation: Conversation, timeout_seconds: float) -> Reply:
        if conversation.json_schema is not None:
            await asyncio.sleep(self._rng.uniform(0, 1))
            self._fail_perhaps()
            return Reply(_VERDICT, "1", Usage(1, 1))
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
