"""Operations around the turns of a run's conversations: one calls a model before the target, one after it."""

import asyncio
import re
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.pipeline.profiles import ProfileHead, ProfileVersion
from cupel_core.providers.errors import ProviderError
from cupel_core.store import profiles
from tests.simulation.faults import Fault
from tests.simulation.harness import simulation
from tests.simulation.invariants import BEFORE
from tests.simulation.models import Call, Turn

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

MODEL = "sim/bold"
"""Not that of the target."""
PROFILE_ID = "prof_sim"
AFTER = "review"
_OPERATION = re.compile(r"\[(\w+) (\d+)\]")
"""How the prompts begin: the operation, and how many messages the conversation has."""


class OperationTurn(NamedTuple):
    """Identifies a call of an operation within its run."""

    name: str
    turn: Turn


class Operations:
    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud
        self._rng = Random(f"operations of {cloud.seed}")
        self.calls: dict[OperationTurn, list[Call]] = defaultdict(list)
        self._max_seconds = self._rng.choice((0.1, 2.0, 8.0))

    def create_profile(self, workspace: str) -> str:
        now = simulation.now()
        operations = [_operation(BEFORE, "before_main_llm"), _operation(AFTER, "after_main_llm")]
        content = {"executionMode": "concurrent", "operations": operations}
        head = ProfileHead(PROFILE_ID, "simulated", 1, True, now, now)
        profiles.create(workspace, head, ProfileVersion(1, content, now))
        return PROFILE_ID

    def of_turn(self, name: str, turn: Turn) -> list[Call]:
        return self.calls[OperationTurn(name, turn)]

    async def complete(self, request: ModelRequest) -> Reply:
        match = _OPERATION.match(request.messages[-1].content)
        assert match is not None, request.messages
        key, current = request.simulation_key, self._cloud.scheduler.current
        run = self._cloud.invariants.run
        assert current is not None
        assert run is not None
        turn = Turn(run.models[0], key.scenario_id, key.repeat, int(match[2]) // 2)
        operation, now = OperationTurn(match[1], turn), self._cloud.scheduler.now
        self._cloud.scheduler.log(f"call of an operation: {operation}")
        call = Call(turn, current.invocation, now, self._cloud.invariants.round_of(turn))
        self._cloud.invariants.check_operation(operation, call, self.calls[operation])
        self.calls[operation].append(call)
        self._cloud.models.call_count += 1
        try:
            await asyncio.sleep(self._rng.uniform(0.01, self._max_seconds))
            self._maybe_fail()
            call.was_answered = True
        finally:
            call.is_over = True
        return Reply("noted", "1", Usage(1, 1))

    def _maybe_fail(self) -> None:
        faults = self._cloud.faults
        if faults.happens(Fault.MODEL_FAILS, faults.model_failure_rate / 4):
            raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, "a simulated failure of an operation")
        if faults.happens(Fault.MODEL_WAITS, faults.retry_later_rate):
            seconds = self._rng.choice((1.0, 25.0, 120.0))
            raise ProviderError(ProbeErrorCode.RATE_LIMITED, "wait", retry_after_seconds=seconds)


def _operation(name: str, hook: str) -> dict[str, Any]:
    prompt = f"[{name} {{{{ messages | length }}}}] {{{{ user.text }}}}"
    return {
        "id": name,
        "name": name.capitalize(),
        "kind": "llm",
        "hooks": [hook],
        "triggers": ["generate", "regenerate"],
        "order": 10,
        "enabled": True,
        "required": False,
        "dependsOn": [],
        "runConditions": [],
        "params": {
            "target": {"model": MODEL},
            "prompt": prompt,
            "strictVariables": False,
            "output": {"mode": "text"},
        },
        "artifact": {
            "tag": name,
            "format": "text",
            "persistence": "run_only",
            "usage": "internal",
            "semantics": "state",
            "writeMode": "replace",
        },
        "effects": [],
    }
