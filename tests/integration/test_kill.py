"""Workers are killed during a run of 1,000 probes: nothing is lost, and few calls are repeated."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
import pytest

from bench.invariants import violations
from cupel.client import Client
from cupel.stack import emulator
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.faults.speedups import short_timeouts
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 20
"""Calls in flight when the workers die; together with unrecorded outcomes, less than 5 % of the run."""
LATENCY_SECONDS = 0.2
MAX_CALLS = 1.05 * PROBES


@pytest.fixture(scope="module")
def result(
    stack: LocalStack,
    stack_paths: StackPaths,
    api: Client,
    aws: Callable[[str], Any],
    model_server: ModelServer,
) -> tuple[Json, Json]:
    """The finished run, and the counts of the model server."""
    model_server.reset()
    model_server.configure(latencySeconds=LATENCY_SECONDS)
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL})
    definition_id = create_definition(api, PROBES)
    with short_timeouts(aws, "probe-custom"):
        run_id = start_run(api, definition_id, "custom/bench")
        wait_until(lambda: api.get_run(run_id)["progress"]["completed"] > PROBES // 3)
        assert kill_workers(stack_paths) >= 1
        run = wait_for_end(api, run_id, seconds=90)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def kill_workers(stack_paths: StackPaths) -> int:
    """Send SIGKILL to every process of the probe function in this stack's emulator; returns their number."""
    emulator_process = emulator.find_running(stack_paths)
    assert emulator_process
    workers = [
        child
        for child in psutil.Process(emulator_process.pid).children()
        if any("ministack-lambda-cupel-probe-" in argument for argument in child.cmdline())
    ]
    for child in workers:
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    return len(workers)


def test_a_run_whose_workers_were_killed_completes(result: tuple[Json, Json]) -> None:
    run, _ = result
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": PROBES, "completed": PROBES, "failed": 0})


def test_every_probe_has_one_outcome(api: Client, result: tuple[Json, Json]) -> None:
    assert violations(api, result[0]) == []


def test_only_calls_in_flight_are_repeated(result: tuple[Json, Json]) -> None:
    counts = result[1]
    assert (len(counts["prompts"]), counts["requests"] <= MAX_CALLS) == (PROBES, True), counts["requests"]
