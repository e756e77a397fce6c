"""Executions of the state machines: one finishes a run, per run and epoch, and one carries out a scoring.

Step Functions refuses a name for 90 days, which makes a second start harmless; an execution that died is followed by
one of another name, which only the sweeper asks for.
"""

from enum import StrEnum
from typing import NamedTuple

import orjson

from cupel_core.messages import RunRef
from cupel_core.settings import settings
from cupel_core.store.clients import stepfunctions

MOST_ATTEMPTS = 5


class Revival(StrEnum):
    ALIVE = "alive"
    STARTED = "started"
    GIVEN_UP = "given up"


class Work(NamedTuple):
    """What an execution is for, and its name."""

    machine_arn: str
    name: str
    payload: dict[str, object]


def begin(ref: RunRef, epoch: int) -> None:
    """Starts `<run>-<epoch>`; that it exists already is success."""
    _start(_finish(ref, epoch))


def begin_scoring(ref: RunRef, scoring_id: str) -> None:
    """Starts one that is named after the scoring; that it exists already is success."""
    _start(_scoring(ref, scoring_id))


def revive(ref: RunRef, epoch: int) -> Revival:
    """Starts an execution unless one is alive; after several that ended without ending the run, none."""
    return _revive(_finish(ref, epoch))


def revive_scoring(ref: RunRef, scoring_id: str) -> Revival:
    """Likewise, for a scoring that is not over."""
    return _revive(_scoring(ref, scoring_id))


def _revive(work: Work) -> Revival:
    for attempt in range(1, MOST_ATTEMPTS + 1):
        tried = work if attempt == 1 else work._replace(name=f"{work.name}-{attempt}")
        status = _status(tried)
        if status == "RUNNING":
            return Revival.ALIVE
        if status is None:
            _start(tried)
            return Revival.STARTED
    return Revival.GIVEN_UP


def _finish(ref: RunRef, epoch: int) -> Work:
    payload: dict[str, object] = {"workspace": ref.workspace, "runId": ref.run_id, "epoch": epoch}
    return Work(settings().finish_machine_arn, f"{ref.run_id}-{epoch}", payload)


def _scoring(ref: RunRef, scoring_id: str) -> Work:
    payload: dict[str, object] = {"workspace": ref.workspace, "runId": ref.run_id, "scoringId": scoring_id}
    return Work(settings().score_machine_arn, scoring_id, payload)


def _start(work: Work) -> None:
    client = stepfunctions()
    payload = orjson.dumps(work.payload).decode()
    try:
        client.start_execution(stateMachineArn=work.machine_arn, name=work.name, input=payload)
    except client.exceptions.ExecutionAlreadyExists:
        return


def _status(work: Work) -> str | None:
    """None when there is no such execution."""
    client = stepfunctions()
    machine = work.machine_arn.replace(":stateMachine:", ":execution:")
    try:
        return client.describe_execution(executionArn=f"{machine}:{work.name}")["status"]
    except client.exceptions.ExecutionDoesNotExist:
        return None
