"""Executions are started once, and again under another name after they died."""

from collections.abc import Iterator
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.store import clients, executions
from cupel_core.store.executions import ExecutionRequest, RestartResult
from cupel_core.store.settings import Settings, settings

REF = RunRef("ws_a", "run_a")
ROLE = "arn:aws:iam::123456789012:role/machine"


@pytest.fixture(autouse=True)
def machines(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The two state machines of the stack."""
    make = clients.stepfunctions().create_state_machine
    finish, _ = (make(name=f"cupel-test-{name}", definition="{}", roleArn=ROLE) for name in ("finish", "score"))
    monkeypatch.setenv("FINISH_MACHINE_ARN", finish["stateMachineArn"])
    settings.cache_clear()
    yield
    settings.cache_clear()


def started(machine: str) -> list[dict[str, Any]]:
    arn = {"finish": settings().finish_machine_arn, "score": settings().score_machine_arn}[machine]
    return list(clients.stepfunctions().list_executions(stateMachineArn=arn)["executions"])


def end(machine: str) -> None:
    for execution in started(machine):
        if execution["status"] == "RUNNING":
            clients.stepfunctions().stop_execution(executionArn=execution["executionArn"])


def test_a_finish_is_started_once_per_run_and_fencing_token() -> None:
    for fencing_token in (1, 1, 2):
        executions.start_finish(REF, fencing_token)
    assert {execution["name"] for execution in started("finish")} == {"run_a-1", "run_a-2"}


def test_a_rescore_is_started_once_by_the_score_machine() -> None:
    for _ in range(2):
        executions.start_rescore(REF, "rsc_1")
    assert [execution["name"] for execution in started("score")] == ["rsc_1"]
    assert started("finish") == []


def test_an_execution_that_was_never_started_is_started() -> None:
    assert executions.ensure_rescore_running(REF, "rsc_1") is RestartResult.STARTED
    assert executions.ensure_rescore_running(REF, "rsc_1") is RestartResult.ALREADY_RUNNING


def test_an_execution_that_left_work_to_the_next_one_did_not_die(monkeypatch: pytest.MonkeyPatch) -> None:
    def succeeded(request: ExecutionRequest) -> str | None:
        return "SUCCEEDED" if request.name in {execution["name"] for execution in started("score")} else None

    monkeypatch.setattr(executions, "_status", succeeded)
    for _ in range(executions.MAX_ATTEMPTS + 1):
        assert executions.ensure_rescore_running(REF, "rsc_1") is RestartResult.STARTED
    assert len(started("score")) == executions.MAX_ATTEMPTS + 1


def test_it_gives_up_after_five_executions_that_died() -> None:
    for _ in range(5):
        assert executions.ensure_rescore_running(REF, "rsc_1") is RestartResult.STARTED
        end("score")
    assert executions.ensure_rescore_running(REF, "rsc_1") is RestartResult.GIVEN_UP
    assert {execution["name"] for execution in started("score")} == {"rsc_1", *(f"rsc_1-{n}" for n in range(2, 6))}
