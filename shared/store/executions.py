"""The finishing executions of a run: one per run and epoch, whoever starts it and how often.

Step Functions refuses a name for 90 days, which makes a second start harmless; an execution that died is followed by
one of another name, which only the sweeper asks for.
"""

from enum import StrEnum

import orjson

from shared.messages import RunRef
from shared.settings import settings
from shared.store.clients import stepfunctions

MOST_ATTEMPTS = 5


class Revival(StrEnum):
    ALIVE = "alive"
    STARTED = "started"
    GIVEN_UP = "given up"


def begin(ref: RunRef, epoch: int) -> None:
    """Starts `<run>-<epoch>`; that it exists already is success."""
    _start(ref, epoch, _name(ref, epoch, 1))


def revive(ref: RunRef, epoch: int) -> Revival:
    """Starts an execution unless one is alive; after several that ended without ending the run, none."""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        name = _name(ref, epoch, attempt)
        status = _status(name)
        if status == "RUNNING":
            return Revival.ALIVE
        if status is None:
            _start(ref, epoch, name)
            return Revival.STARTED
    return Revival.GIVEN_UP


def _name(ref: RunRef, epoch: int, attempt: int) -> str:
    return f"{ref.run_id}-{epoch}" if attempt == 1 else f"{ref.run_id}-{epoch}-{attempt}"


def _start(ref: RunRef, epoch: int, name: str) -> None:
    client = stepfunctions()
    payload = orjson.dumps({"workspace": ref.workspace, "runId": ref.run_id, "epoch": epoch}).decode()
    try:
        client.start_execution(stateMachineArn=settings().finish_machine_arn, name=name, input=payload)
    except client.exceptions.ExecutionAlreadyExists:
        return


def _status(name: str) -> str | None:
    """None when there is no such execution."""
    client = stepfunctions()
    machine = settings().finish_machine_arn.replace(":stateMachine:", ":execution:")
    try:
        return client.describe_execution(executionArn=f"{machine}:{name}")["status"]
    except client.exceptions.ExecutionDoesNotExist:
        return None
