"""Warms up functions after a start of the embedded cloud, and resumes interrupted work.

Each function is invoked once, so that the first run does not wait for layers to be unpacked. The events name a run that
does not exist, which every consumer drops.

Only tables, objects and schedules survive an interruption: the queues are empty, or their messages hidden by workers
that are gone. The sweeper would detect that within minutes; here it is known.
"""

import json
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, NamedTuple

from cupel.counts import count_of
from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator
from cupel.stack.invocation import try_invoke
from cupel.stack.paths import REGION, STACK_NAME
from cupel.stack.workers import probe_workers
from cupel_core.base.messages import (
    DispatchRequest,
    DueSchedule,
    GenerationRequest,
    JobRequest,
    ProbeSlice,
    QueueMessage,
    RunCallback,
    TurnOrder,
)

NEEDED_BY_A_CALL = ("dispatch", "probe")
_AT_ONCE = 4
"""More would only compete for the processors; at least as many as one function has workers."""
_WORKSPACE = "warming"
_RUN_ID = "run_none"
_KINDS = {"dispatched": "run", "redispatched": "run", "finish-started": "run", "rescores": "rescore", "turns": "turn"}


class WarmupCall(NamedTuple):
    function: str
    event: dict[str, Any]
    workers: int = 1


def warm(emulator: Emulator, calls: Iterable[WarmupCall]) -> dict[str, str]:
    invocations = [call for call in calls for _ in range(call.workers)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        failures = list(pool.map(lambda call: try_invoke(emulator, call.function, call.event).failure, invocations))
    return {call.function: failure for call, failure in zip(invocations, failures, strict=True) if failure}


def start_warming(emulator: Emulator, calls: Iterable[WarmupCall]) -> None:
    lambda_ = make_client("lambda", emulator)
    for call in calls:
        lambda_.invoke(FunctionName=_name(call), InvocationType="Event", Payload=json.dumps(call.event))


def warmup_calls() -> tuple[WarmupCall, ...]:
    """Return a call for each function except the API and its authorizer, which the first request starts."""
    return (
        WarmupCall("dispatch", _delivery(DispatchRequest(workspace=_WORKSPACE, run_id=_RUN_ID, fencing_token=1))),
        WarmupCall(
            "probe",
            _delivery(ProbeSlice(workspace=_WORKSPACE, run_id=_RUN_ID, fencing_token=1, leaf=0, indexes=[0])),
            workers=probe_workers(),
        ),
        WarmupCall(
            "generate",
            _delivery(GenerationRequest(workspace=_WORKSPACE, definition_id="def_none", generation_id="none")),
        ),
        WarmupCall("analyze", _delivery(JobRequest(workspace=_WORKSPACE, job_id="job_none"))),
        WarmupCall("turn", _delivery(TurnOrder(workspace=_WORKSPACE, chat_id="chat_none", turn_id="turn_none"))),
        WarmupCall("notify", _delivery(RunCallback(workspace=_WORKSPACE, run_id=_RUN_ID))),
        WarmupCall("finish", {"op": "warm"}),
        WarmupCall("score", {"op": "warm"}),
        WarmupCall("schedule", _due()),
        WarmupCall("sweep", {}),
        WarmupCall("graphqlapi", _unidentified("POST", "/v1/graphql")),
        WarmupCall("mcpserver", _unidentified("POST", "/v1/mcp")),
        WarmupCall("page", {"rawPath": "/", "requestContext": {"http": {"method": "GET"}}}),
    )


def _unidentified(method: str, path: str) -> dict[str, Any]:
    context = {"http": {"method": method, "path": path}, "stage": "$default", "requestId": "warm"}
    return {"rawPath": path, "headers": {}, "requestContext": context}


def _due() -> dict[str, Any]:
    return DueSchedule(workspace=_WORKSPACE, schedule_id="sch_none", scheduled_time="").model_dump(by_alias=True)


def _delivery(message: QueueMessage) -> dict[str, Any]:
    record = {
        "messageId": str(uuid.uuid4()),
        "receiptHandle": "none",
        "body": message.to_body(),
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:{STACK_NAME}-probe_sim",
        "awsRegion": REGION,
    }
    return {"Records": [record]}


def _name(call: WarmupCall) -> str:
    return f"{STACK_NAME}-{call.function}"


_KINDS |= {"jobs": "job", "generations": "generation", "callbacks": "webhook call"}


class Recovery(NamedTuple):
    resumed: str
    failure: str = ""


def resume_lost(emulator: Emulator, lost_before: datetime) -> Recovery:
    answer = try_invoke(emulator, "sweep", {"lostBefore": lost_before.isoformat()})
    if answer.failure is not None:
        return Recovery("", answer.failure)
    totals: dict[str, int] = {}
    for name, kind in _KINDS.items():
        totals[kind] = totals.get(kind, 0) + answer.payload.get(name, 0)
    return Recovery(", ".join(count_of(total, kind) for kind, total in totals.items() if total))
