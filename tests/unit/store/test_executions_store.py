"""Executions are begun once, and again under another name after they died."""

from collections.abc import Iterator
from typing import Any

import pytest

from cupel_core.messages import RunRef
from cupel_core.settings import Settings, settings
from cupel_core.store import clients, executions
from cupel_core.store.executions import Revival

REF = RunRef("ws_a", "run_a")
ROLE = "arn:aws:iam::123456789012:role/machine"


@pytest.fixture(autouse=True)
def machines(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The two of the stack."""
    make = clients.stepfunctions().create_state_machine
    finish, _ = (make(name=f"cupel-test-{name}", definition="{}", roleArn=ROLE) for name in ("finish", "score"))
    monkeypatch.setenv("FINISH_MACHINE_ARN", finish["stateMachineArn"])
    settings.cache_clear()
    yield
    settings.cache_clear()


def begun(machine: str) -> list[dict[str, Any]]:
    arn = {"finish": settings().finish_machine_arn, "score": settings().score_machine_arn}[machine]
    return list(clients.stepfunctions().list_executions(stateMachineArn=arn)["executions"])


def end(machine: str) -> None:
    for each in begun(machine):
        if each["status"] == "RUNNING":
            clients.stepfunctions().stop_execution(executionArn=each["executionArn"])


def test_a_finish_is_begun_once_per_run_and_epoch() -> None:
    for epoch in (1, 1, 2):
        executions.begin(REF, epoch)
    assert {each["name"] for each in begun("finish")} == {"run_a-1", "run_a-2"}


def test_a_scoring_is_begun_once_by_the_machine_for_scorings() -> None:
    for _ in range(2):
        executions.begin_scoring(REF, "scr_1")
    assert [each["name"] for each in begun("score")] == ["scr_1"]
    assert begun("finish") == []


def test_what_was_never_begun_is_begun() -> None:
    assert executions.revive_scoring(REF, "scr_1") is Revival.STARTED
    assert executions.revive_scoring(REF, "scr_1") is Revival.ALIVE


def test_after_five_that_died_it_is_given_up() -> None:
    for _ in range(5):
        assert executions.revive_scoring(REF, "scr_1") is Revival.STARTED
        end("score")
    assert executions.revive_scoring(REF, "scr_1") is Revival.GIVEN_UP
    assert {each["name"] for each in begun("score")} == {"scr_1", *(f"scr_1-{n}" for n in range(2, 6))}
