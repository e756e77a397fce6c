"""TaskLimits hold whatever a task does, and one workspace's tasks never wait for another's."""

import asyncio
import os
from pathlib import Path

import pytest

from cupel_core import sandbox
from cupel_core.sandbox import ExpressionError, LimitExceeded, SandboxFailed, TaskLimits
from cupel_core.sandbox.limits import MAX_EXCEEDED, WINDOW_SECONDS, WorkspaceBudget

TASKS = "tests.unit.sandbox.tasks"
SHORT = TaskLimits(cpu_seconds=0.1)


def test_a_task_returns_json() -> None:
    value = {"text": "ж 𝄞 \0", "list": [1, 2.5, None, True]}
    assert sandbox.run_blocking(f"{TASKS}:echo", value) == value


async def test_a_task_can_be_awaited() -> None:
    assert await sandbox.run(f"{TASKS}:echo", "a") == "a"


def test_a_process_serves_several_tasks() -> None:
    assert sandbox.run_blocking(f"{TASKS}:process_id") == sandbox.run_blocking(f"{TASKS}:process_id")


def test_tasks_run_below_their_caller_however_many_a_process_serves() -> None:
    assert [sandbox.run_blocking(f"{TASKS}:niceness") for _ in range(3)] == [min(19, os.nice(0) + 5)] * 3


@pytest.mark.parametrize("task", ["spin", "spin_in_c"])
def test_a_task_is_ended_at_its_cpu_limit(task: str) -> None:
    with pytest.raises(LimitExceeded, match=r"takes more than 0\.1 s of CPU time"):
        sandbox.run_blocking(f"{TASKS}:{task}", limits=SHORT)


def test_a_task_is_ended_at_its_wall_limit() -> None:
    with pytest.raises(LimitExceeded, match="takes more than"):
        sandbox.run_blocking(f"{TASKS}:sleep", 60, limits=TaskLimits(wall_seconds=0.2))


def test_a_task_gets_no_memory_beyond_its_limit() -> None:
    with pytest.raises(LimitExceeded, match="needs more than 160 MB of memory"):
        sandbox.run_blocking(f"{TASKS}:allocate", 400)


def test_a_result_beyond_the_output_limit_is_not_read() -> None:
    with pytest.raises(LimitExceeded, match="gives more than 1,000 bytes"):
        sandbox.run_blocking(f"{TASKS}:text", 100_000, limits=TaskLimits(max_output_bytes=1_000))


def test_an_error_for_the_author_is_passed_on() -> None:
    with pytest.raises(ExpressionError, match="no such field"):
        sandbox.run_blocking(f"{TASKS}:refuse", "no such field")


def test_too_deep_recursion_is_an_error_for_the_author() -> None:
    with pytest.raises(ExpressionError, match="nested too deeply"):
        sandbox.run_blocking(f"{TASKS}:recurse", 0)


@pytest.mark.parametrize("task", ["fail", "exit_now"])
def test_another_failure_is_not_the_authors(task: str) -> None:
    with pytest.raises(SandboxFailed):
        sandbox.run_blocking(f"{TASKS}:{task}")


def test_the_next_task_gets_a_new_process_after_a_limit() -> None:
    with pytest.raises(LimitExceeded):
        sandbox.run_blocking(f"{TASKS}:spin", limits=SHORT)
    assert sandbox.run_blocking(f"{TASKS}:echo", 1) == 1


def test_a_task_sees_no_environment_variable_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    names = sandbox.run_blocking(f"{TASKS}:environment")
    assert not [name for name in names if name.startswith("AWS")]


def test_the_helper_gives_way_to_other_processes() -> None:
    process_id = sandbox.run_blocking(f"{TASKS}:process_id")
    assert os.getpriority(os.PRIO_PROCESS, process_id) > os.getpriority(os.PRIO_PROCESS, 0)


async def _run_as(workspace: str, task: str, *arguments: object) -> object:
    sandbox.use_workspace(workspace)
    return await sandbox.run(f"{TASKS}:{task}", *arguments)


async def test_a_workspaces_task_does_not_wait_for_another_workspaces(tmp_path: Path) -> None:
    file = tmp_path / "file"
    waiting = [asyncio.create_task(_run_as("waiting", "wait_for_file", str(file))) for _ in range(10)]
    await asyncio.sleep(0)
    assert await asyncio.create_task(_run_as("ordinary", "echo", 1)) == 1
    file.touch()
    await asyncio.gather(*waiting)  # Each would be at its time limit if the other task had waited for them.


async def test_a_workspace_that_keeps_exceeding_its_limits_is_refused_at_once() -> None:
    for _ in range(MAX_EXCEEDED):
        with pytest.raises(LimitExceeded, match="takes more than"):
            await sandbox.run(f"{TASKS}:spin", limits=SHORT)
    with pytest.raises(sandbox.BudgetUsedUp, match="was not computed") as wait:
        await sandbox.run(f"{TASKS}:echo", 1)
    assert 0 < wait.value.retry_after_seconds <= WINDOW_SECONDS


async def test_another_workspace_is_not_refused() -> None:
    sandbox.use_workspace("exceeding")
    for _ in range(MAX_EXCEEDED):
        with pytest.raises(LimitExceeded, match="takes more than"):
            await sandbox.run(f"{TASKS}:spin", limits=SHORT)
    assert await asyncio.create_task(_run_as("ordinary", "echo", 1)) == 1


def test_a_budget_is_restored_after_the_window() -> None:
    budget = WorkspaceBudget()
    for second in range(MAX_EXCEEDED):
        budget.record_exceeded(float(second))
    assert [budget.exhausted_seconds(WINDOW_SECONDS + late) for late in (-1, 0.1)] == [1.0, 0.0]
