"""Workers killed in the middle of a run of 1,000 probes: nothing is lost, and little is asked twice."""

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
from cupel.stack.address import Local
from cupel.stack.paths import Place
from tests.eval_api import Json, define, finished, start, until
from tests.faults.speedups import hurried
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 20
"""In flight when the workers die; together with what is not yet recorded, less than 5 % of the run."""
LATENCY_SECONDS = 0.2
MOST_CALLS = 1.05 * PROBES


@pytest.fixture(scope="module")
def killed(
    stack: Local,
    place: Place,
    api: Client,
    aws: Callable[[str], Any],
    model_server: ModelServer,
) -> tuple[Json, Json]:
    """The run at its end, and what the model server has counted."""
    model_server.forget()
    model_server.behave(latencySeconds=LATENCY_SECONDS)
    api.configure_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL})
    definition_id = define(api, PROBES)
    with hurried(aws, "probe-custom"):
        run_id = start(api, definition_id, "custom/bench")
        until(lambda: api.run(run_id)["progress"]["completed"] > PROBES // 3)
        assert kill_workers(place) >= 1
        run = finished(api, run_id, seconds=90)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def kill_workers(place: Place) -> int:
    """SIGKILL to every process that runs the probe function in this stack's emulator; how many there were."""
    running = emulator.running(place)
    assert running
    found = [
        child
        for child in psutil.Process(running.pid).children()
        if any("ministack-lambda-cupel-probe-" in argument for argument in child.cmdline())
    ]
    for child in found:
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    return len(found)


def test_a_run_whose_workers_were_killed_completes(killed: tuple[Json, Json]) -> None:
    run, _ = killed
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": PROBES, "completed": PROBES, "failed": 0})


def test_every_probe_has_one_outcome(api: Client, killed: tuple[Json, Json]) -> None:
    assert violations(api, killed[0]) == []


def test_what_was_not_in_flight_is_asked_once(killed: tuple[Json, Json]) -> None:
    counts = killed[1]
    assert (len(counts["prompts"]), counts["requests"] <= MOST_CALLS) == (PROBES, True), counts["requests"]
