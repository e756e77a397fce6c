"""Executions of the state machines: one finishes a run (per run and fencing token), the other carries out a rescore.

Step Functions refuses a name that was used within 90 days, so starting twice is harmless. The sweeper replaces an
execution that died by one with another name.
"""

from enum import StrEnum
from typing import NamedTuple

import orjson

from cupel_core.base.messages import RunRef
from cupel_core.store.clients import stepfunctions
from cupel_core.store.settings import settings

MAX_ATTEMPTS = 5
"""A run or a rescore fails after this many of its executions have died."""
MAX_EXECUTIONS = 100


class RestartResult(StrEnum):
    ALREADY_RUNNING = "alive"
    STARTED = "started"
    GIVEN_UP = "given up"


class ExecutionRequest(NamedTuple):
    machine_arn: str
    name: str
    payload: dict[str, object]


def start_finish(ref: RunRef, fencing_token: int) -> None:
    _start(_finish(ref, fencing_token))


def start_analysis(ref: RunRef, fencing_token: int, revision: str) -> None:
    """Start an execution that counts the outcomes of a run that has ended and analyzes it, unless one is running."""
    request = _finish(ref, fencing_token)
    name = f"{ref.run_id}-analysis-{revision}"
    _ensure_running(request._replace(name=name, payload={**request.payload, "analysis": True}))


def start_rescore(ref: RunRef, rescore_id: str, number: int = 1) -> None:
    """Start the execution named after the rescore and `number`, unless it exists."""
    _start(_numbered(_rescore(ref, rescore_id), number))


def ensure_finish_running(ref: RunRef, fencing_token: int) -> RestartResult:
    """Start an execution unless one is running. It gives up after five that ended without ending the run."""
    return _ensure_running(_finish(ref, fencing_token))


def ensure_rescore_running(ref: RunRef, rescore_id: str) -> RestartResult:
    """Start an execution of a rescore that has not ended, unless one is running."""
    return _ensure_running(_rescore(ref, rescore_id))


def _ensure_running(first: ExecutionRequest) -> RestartResult:
    """Start an execution unless one is running. One that succeeded, to limit its history, left work to the next: it did
    not die."""
    died = 0
    for number in range(1, MAX_EXECUTIONS + 1):
        request = _numbered(first, number)
        status = _status(request)
        if status == "RUNNING":
            return RestartResult.ALREADY_RUNNING
        if status is None:
            _start(request)
            return RestartResult.STARTED
        died += status != "SUCCEEDED"
        if died == MAX_ATTEMPTS:
            break
    return RestartResult.GIVEN_UP


def _numbered(first: ExecutionRequest, number: int) -> ExecutionRequest:
    return first if number == 1 else first._replace(name=f"{first.name}-{number}")


def _finish(ref: RunRef, fencing_token: int) -> ExecutionRequest:
    payload: dict[str, object] = {"workspace": ref.workspace, "runId": ref.run_id, "fencingToken": fencing_token}
    return ExecutionRequest(settings().finish_machine_arn, f"{ref.run_id}-{fencing_token}", payload)


def _rescore(ref: RunRef, rescore_id: str) -> ExecutionRequest:
    payload: dict[str, object] = {"workspace": ref.workspace, "runId": ref.run_id, "rescoreId": rescore_id}
    return ExecutionRequest(settings().score_machine_arn, rescore_id, payload)


def _start(request: ExecutionRequest) -> None:
    client = stepfunctions()
    payload = orjson.dumps(request.payload).decode()
    try:
        client.start_execution(stateMachineArn=request.machine_arn, name=request.name, input=payload)
    except client.exceptions.ExecutionAlreadyExists:
        return


def _status(request: ExecutionRequest) -> str | None:
    client = stepfunctions()
    machine = request.machine_arn.replace(":stateMachine:", ":execution:")
    try:
        return client.describe_execution(executionArn=f"{machine}:{request.name}")["status"]
    except client.exceptions.ExecutionDoesNotExist:
        return None
