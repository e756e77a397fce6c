"""Workers are killed during a run of 1,000 probes: nothing is lost, few calls are repeated, others soon take over."""

import time
from typing import NamedTuple

import pytest

from bench.invariants import violations
from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.kills import kill_workers
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 20
LATENCY_SECONDS = 0.2
MAX_RECOVERY_SECONDS = 60.0
"""Until the slices of dead workers are processed again; what the remaining calls take comes on top."""


class KilledRun(NamedTuple):
    """The finished run, the counts of the model server, and how the run went on after the workers' death."""

    run: Json
    counts: Json
    seconds_before: float
    """From the start to the workers' death."""
    seconds_after: float
    """From then to the last outcome."""
    completed_before: int
    calls_before: int


@pytest.fixture(scope="module")
def killed(stack: LocalStack, stack_paths: StackPaths, api: Client, model_server: ModelServer) -> KilledRun:
    model_server.reset()
    model_server.configure(latencySeconds=LATENCY_SECONDS)
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL})
    definition_id, started_at = create_definition(api, PROBES), time.monotonic()
    run_id = start_run(api, definition_id, "custom/bench")
    wait_until(lambda: completed(api, run_id) >= PROBES // 2)
    assert kill_workers(stack_paths) >= 1
    killed_at, completed_before = time.monotonic(), completed(api, run_id)
    calls_before = model_server.counts()["requests"]
    wait_until(lambda: completed(api, run_id) == PROBES, seconds=180)
    seconds_after, run = time.monotonic() - killed_at, wait_for_end(api, run_id, seconds=180)
    print(f"{model_server.counts()['requests']} model calls for {PROBES} probes, {seconds_after:.0f} s after the death")
    seconds_before = killed_at - started_at
    return KilledRun(run, model_server.counts(), seconds_before, seconds_after, completed_before, calls_before)


def completed(api: Client, run_id: str) -> int:
    return int(api.get_run(run_id)["progress"]["completed"])


def test_a_run_whose_workers_were_killed_completes(killed: KilledRun) -> None:
    assert (killed.run["status"], killed.run["progress"]) == (
        "COMPLETED",
        {"total": PROBES, "completed": PROBES, "failed": 0},
    )


def test_every_probe_has_one_outcome(api: Client, killed: KilledRun) -> None:
    assert violations(api, killed.run) == []


def test_only_calls_without_a_recorded_outcome_are_repeated(killed: KilledRun) -> None:
    """How many these are depends on the machine: those in flight, and those whose outcomes were not stored yet."""
    unrecorded = killed.calls_before - killed.completed_before
    assert len(killed.counts["prompts"]) == PROBES
    assert killed.counts["requests"] - PROBES <= unrecorded < PROBES // 4, unrecorded


def test_the_slices_of_dead_workers_are_taken_over_within_a_minute(killed: KilledRun) -> None:
    """The remaining probes take as long as the others before, on a busy machine longer than their calls alone."""
    remaining_seconds = killed.seconds_before * (PROBES - killed.completed_before) / killed.completed_before
    assert killed.seconds_after < MAX_RECOVERY_SECONDS + remaining_seconds
