"""Tools that targets call: a script answers one of them, a connector executes the other; and a record of its calls."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode
from cupel_core.domain.conversations.tool_results import ToolOutcome
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.providers.errors import ProviderError
from tests.simulation.faults import Fault
from tests.simulation.scheduler import Invocation

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

SCRIPTED, EXECUTED = "look", "pay"
SCRIPTED_RESULT = "seen"
MAX_ROUNDS = 2
_MAX_CALLS = 3
"""Of one reply."""
_WAITS_SECONDS = (1.0, 25.0, 120.0)


@dataclass
class Execution:
    invocation: Invocation
    is_over: bool = False
    was_answered: bool = False


class Tools:
    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self._rng = Random(f"tools of {cloud.seed}")
        self._executions: dict[str, list[Execution]] = defaultdict(list)
        """By the id that all attempts at a call have."""
        self._has_connector = self._rng.random() < 0.75
        self._has_ids = self._rng.random() < 0.5
        """Whether the provider gives its calls ids; those of Google have none."""
        self._max_seconds = self._rng.choice((0.1, 2.0, 8.0))

    def prepare(self, workspace: str) -> dict[str, Any]:
        """Create the connector, and return what the definition says of tools."""
        from cupel_core.domain.resources.connectors import ConnectorFields, ConnectorType
        from cupel_core.resources import connectors
        from tests.simulation.harness import simulation

        params: dict[str, Any] = {"tools": [{"name": SCRIPTED}, {"name": EXECUTED}], "maxToolRounds": MAX_ROUNDS}
        if self._has_connector:
            fields = ConnectorFields(name="tools", type=ConnectorType.TOOLS, base_url="https://tools.test")
            params["toolConnectorId"] = connectors.create(workspace, fields, simulation.now()).item.id
        return {"params": params, "toolResults": [{"name": SCRIPTED, "result": SCRIPTED_RESULT}]}

    def draw_calls(self, conversation: ModelRequest) -> tuple[ToolCall, ...]:
        if not conversation.parameters.tools or self._rng.random() < 0.4:
            return ()
        names = self._rng.choices((SCRIPTED, EXECUTED), weights=(1, 3), k=self._rng.randint(1, _MAX_CALLS))
        return tuple(ToolCall(f"{self._rng.getrandbits(32):x}" if self._has_ids else "", name, "{}") for name in names)

    async def execute(
        self, _: Any, call_id: str, body: Mapping[str, Any], timeout_seconds: float, **__: Any
    ) -> ToolOutcome:
        current = self._cloud.scheduler.current
        assert current is not None
        self._cloud.scheduler.log(f"tool call {call_id} of probe {body['probeIndex']}")
        execution = Execution(current.invocation)
        self._cloud.invariants.check_tool_call(body, self._executions[call_id])
        self._executions[call_id].append(execution)
        try:
            await asyncio.sleep(min(self._rng.uniform(0.01, self._max_seconds), timeout_seconds))
            self._maybe_fail()
            execution.was_answered = True
        finally:
            execution.is_over = True
        return ToolOutcome(call_id)

    def _maybe_fail(self) -> None:
        faults = self._cloud.faults
        if faults.happens(Fault.TOOL_FAILS, faults.model_failure_rate / 4):
            raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, "a simulated failure of a tool")
        if faults.happens(Fault.TOOL_WAITS, faults.retry_later_rate):
            seconds = self._rng.choice(_WAITS_SECONDS)
            raise ProviderError(ProbeErrorCode.RATE_LIMITED, "wait", retry_after_seconds=seconds)
