"""Models that reply after a delay, fail, hang or ask to retry later; and a record of every call."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from cupel_core.domain.conversations.model_request import MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.providers.errors import ProviderError
from cupel_core.store.outcome_pages import MAX_ENTRY_BYTES
from tests.simulation.faults import Fault
from tests.simulation.scheduler import Invocation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

_DECISION = '{"decisionCode": "3", "decisionText": "It was a three."}'
_DECISION_TEXT = '{"decisionText": "It was decided."}'
_SLOW_SECONDS = 9.0
_INVALID_REPLY = "nonsense"
_FAILURES = (
    ProbeErrorCode.RATE_LIMITED,
    ProbeErrorCode.PROVIDER_ERROR,
    ProbeErrorCode.NETWORK,
    *(ProbeErrorCode.INVALID_REQUEST,) * 2,
)


class Turn(NamedTuple):
    """Identifies a call within its run."""

    model: str
    scenario_id: str
    repeat: int
    number: int


@dataclass
class Call:
    turn: Turn
    invocation: Invocation
    started_at: float
    retry_round: int
    is_over: bool = False
    was_answered: bool = False
    was_paid: bool = False
    """Whether it failed and may have been billed: one of its attempts."""


class Models:
    def __init__(self, cloud: "Cloud", *, has_slow_models: bool = False) -> None:
        self._cloud = cloud
        self._calls: dict[Turn, list[Call]] = defaultdict(list)
        self.call_count = 0
        self.has_distinct_conversations = False
        """Whether no two conversations of the run start with the same message."""
        self.refused_turns: set[Turn] = set()
        """Turns with an answer whose outcome is too large to be stored."""
        self.unjudged: set[tuple[tuple[str, str], ...]] = set()
        """The conversations for which a judge gave no usable reply even when asked to repair its first one, so that
        no verdict can be demanded of them. Each is the roles and contents of its messages."""
        self._refusal_rate = Random(f"refusals {cloud.seed}").choice((0.0, 0.0, 0.05))
        self._rng = cloud.scheduler.rng
        latency = self._rng.choice((0.1, 0.5, 3.0, _SLOW_SECONDS))
        self._latency = _SLOW_SECONDS if has_slow_models else latency

    async def complete(self, _: Any, model: str, conversation: ModelRequest, timeout_seconds: float) -> Reply:
        self._cloud.invariants.account_pauses.check_call()
        with self._cloud.bills.call():
            return await self._complete(model, conversation, timeout_seconds)

    async def _complete(self, model: str, conversation: ModelRequest, timeout_seconds: float) -> Reply:
        if conversation.json_schema is not None:
            return await self._complete_structured(model, conversation)
        if self._cloud.operations is not None and conversation.role is ModelRole.OPERATION:
            return await self._cloud.operations.complete(conversation)
        call = self._start_call(model, conversation)
        try:
            await self._wait_for_reply(timeout_seconds)
            await self._maybe_hang(timeout_seconds)
            self._maybe_fail()
            call.was_answered = True
        except ProviderError as error:
            call.was_paid = error.repair is Remedy.REPEAT
            raise
        finally:
            call.is_over = True
        self._cloud.scheduler.log(f"model replied to {call.turn}")
        text, version = f"Rating: {self._rng.randint(1, 5)}", self._model_version(call.turn)
        calls = self._cloud.tools.draw_calls(conversation) if self._cloud.tools else ()
        return Reply(text, version, Usage(1, 1), tool_calls=calls)

    def _model_version(self, turn: Turn) -> str:
        """Rarely one with which an outcome is too large, each time."""
        rng = Random(f"{self._cloud.seed} {turn}")
        if rng.random() >= self._refusal_rate:
            return "1"
        self._cloud.faults.count(Fault.REFUSED)
        self.refused_turns.add(turn)
        return "1" * MAX_ENTRY_BYTES

    async def _complete_structured(self, model: str, conversation: ModelRequest) -> Reply:
        """Reply as the judge of a decision, the judge of a conversation, or the simulated user."""
        assert conversation.json_schema is not None
        properties: Any = conversation.json_schema["properties"]
        call = None if "decisionText" in properties else self._start_structured_call(model, conversation)
        try:
            await asyncio.sleep(self._rng.uniform(0, 1))
            self._maybe_fail()
            text = self._structured_reply(properties)
            self._note_unjudged(conversation, text)
            if call is not None:
                call.was_answered = text != _INVALID_REPLY  # An invalid reply is not stored.
        except ProviderError as error:
            if call is not None:
                call.was_paid = error.repair is Remedy.REPEAT
            raise
        finally:
            if call is not None:
                call.is_over = True
        return Reply(text, "1", Usage(1, 1))

    def _note_unjudged(self, request: ModelRequest, reply: str) -> None:
        """A judge is shown the conversation as JSON; a request with further messages asks it to repair its reply."""
        assert request.json_schema is not None
        _, material, *repair = request.messages
        properties: Any = request.json_schema["properties"]
        if reply == _INVALID_REPLY and repair and "successMet" in properties:
            shown = orjson.loads(material.content)["conversation"]
            self.unjudged.add(tuple((message["role"], message["content"]) for message in shown))

    def _structured_reply(self, properties: Any) -> str:
        if "decisionCode" in properties:
            return _DECISION
        if "decisionText" in properties:
            return _DECISION_TEXT
        if self._rng.random() < 0.05:
            return _INVALID_REPLY
        if "content" in properties:
            return '{"content": "Go on."}'
        success, failure = self._rng.random() < 0.4, self._rng.random() < 0.2
        verdict = {"successMet": success, "failureMet": failure, "confidence": 1.0, "reasoning": "a simulated verdict"}
        return orjson.dumps(verdict).decode()

    def _start_structured_call(self, model: str, conversation: ModelRequest) -> Call:
        """Only its text identifies the conversation: sufficient if all conversations differ and have one repeat."""
        current = self._cloud.scheduler.current
        assert current is not None
        text = conversation.messages[1].content
        turn = Turn(model, text, 0, len(conversation.messages))
        call = Call(turn, current.invocation, self._cloud.scheduler.now, self._cloud.invariants.retry_round)
        self._cloud.invariants.check_call(
            call, self._calls[turn] if self.has_distinct_conversations else (), is_structured=True
        )
        self._calls[turn].append(call)
        self.call_count += 1
        return call

    def calls(self, model: str, scenario_id: str, repeat: int, number: int) -> list[Call]:
        return self._calls[Turn(model, scenario_id, repeat, number)]

    def _start_call(self, model: str, conversation: ModelRequest) -> Call:
        current = self._cloud.scheduler.current
        assert current is not None
        reply_count = sum(message.role is MessageRole.ASSISTANT for message in conversation.messages)
        turn = Turn(model, conversation.simulation_key.scenario_id, conversation.simulation_key.repeat, reply_count)
        self._cloud.scheduler.log(f"model call {turn}")
        invariants = self._cloud.invariants
        call = Call(turn, current.invocation, self._cloud.scheduler.now, invariants.round_of(turn))
        invariants.check_call(call, self._calls[turn])
        self._calls[turn].append(call)
        self.call_count += 1
        return call

    async def _wait_for_reply(self, timeout_seconds: float) -> None:
        latency = self._rng.expovariate(1 / self._latency) + 0.01
        await asyncio.sleep(min(latency, timeout_seconds))
        if latency > timeout_seconds:
            raise ProviderError(ProbeErrorCode.TIMEOUT, "no reply in time")

    async def _maybe_hang(self, timeout_seconds: float) -> None:
        if self._cloud.faults.happens(Fault.MODEL_HANGS, self._cloud.faults.model_failure_rate / 20):
            await asyncio.sleep(timeout_seconds)
            raise ProviderError(ProbeErrorCode.TIMEOUT, "no reply")

    def _maybe_fail(self) -> None:
        faults = self._cloud.faults
        if faults.happens(Fault.MODEL_FAILS, faults.model_failure_rate):
            raise ProviderError(self._rng.choice(_FAILURES), "a simulated failure")
        if faults.happens(Fault.MODEL_WAITS, faults.retry_later_rate):
            raise ProviderError(
                ProbeErrorCode.RATE_LIMITED, "wait", retry_after_seconds=self._rng.choice((1.0, 25.0, 120.0))
            )
