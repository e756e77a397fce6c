import asyncio
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from random import Random
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from cupel_core.base.deferred import dataclass
from cupel_core.conversations.tool_execution import ToolError
from cupel_core.conversations.turn import MAX_WAIT_SECONDS
from cupel_core.domain.conversations.model_request import ExhaustedAllowance, ProbeErrorCode, Usage
from cupel_core.domain.conversations.tool_results import ToolOutcome
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.text.storable import storable
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.call_guard import CallGuard
from cupel_core.providers.completion import Sleep, with_retry
from cupel_core.providers.errors import ProviderError, RetryLater

MAX_MESSAGE_LENGTH = 500


def probe_fields(
    run_id: str, index: int, scenario: Scenario, column: Column, persona: Persona | None, repeat: int
) -> dict[str, Any]:
    return {
        "runId": run_id,
        "probeIndex": index,
        "scenarioId": scenario.id,
        "scenario": scenario.name,
        "targetId": column.target.id,
        "model": column.target.model,
        "promptId": column.prompt_id,
        "persona": persona.name if persona else None,
        "repeat": repeat,
    }


class Executed(NamedTuple):
    """A call that was answered. It has used no tokens."""

    usage: Usage = Usage()
    exhausted_allowance: ExhaustedAllowance | None = None


@dataclass(frozen=True)
class ConnectorTools:
    connector: Connector | None
    """None if the connector does not exist any more."""
    guard: CallGuard
    """Surrounds every attempt. It may wait, and raise to prevent the call."""
    probe: Mapping[str, Any]
    conversation_id: str
    timeout_seconds: float
    rng: Random
    allow_private: bool = False
    sleep: Sleep = asyncio.sleep
    log: AttemptLog = field(default_factory=AttemptLog)

    async def __call__(self, call: ToolCall, arguments: dict[str, Any]) -> ToolOutcome:
        if self.connector is None:
            raise ToolError("the connector that executes calls does not exist")
        try:
            return await with_retry(
                partial(self._attempt, self.connector, call, arguments),
                max_wait_seconds=MAX_WAIT_SECONDS,
                rng=self.rng,
                sleep=self.sleep,
                attempts=self.log.of(f"{self.connector.target} {call.id}"),
            )
        except RetryLater as wait:
            raise wait.by(ProbeErrorCode.TOOL_ERROR, self.connector.target) from wait
        except ProviderError as error:
            why = storable(error.message, MAX_MESSAGE_LENGTH)
            message = f"the connector {self.connector.name} could not execute {call.name}: {error.code}: {why}"
            raise ToolError(message, error.attempts) from error

    async def _attempt(self, connector: Connector, call: ToolCall, arguments: dict[str, Any]) -> ToolOutcome:
        from cupel_core.providers.connectors import tools  # It imports aiohttp, a fifth of a cold start.

        call_id = f"call_{uuid5(NAMESPACE_URL, f'{self.conversation_id}/{call.id}').hex}"
        body = {
            "type": "tool.call",
            "id": call_id,
            "callId": call.id,
            "name": call.name,
            "arguments": arguments,
            "conversationId": self.conversation_id,
            **self.probe,
        }
        async with self.guard() as on_answer:
            outcome = await tools.execute(
                connector, call_id, body, self.timeout_seconds, allow_private=self.allow_private
            )
            on_answer(Executed())
            return outcome
