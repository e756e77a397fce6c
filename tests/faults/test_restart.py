"""The whole embedded cloud stopped and started in the middle of a run of 1,000 probes."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.invariants import violations
from cupel.client import Client
from cupel.stack import lifecycle
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel_core.domain.runs.run import RunEventType
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.faults.speedups import short_timeouts
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 10
"""A stopping cloud stores no more outcomes while its workers still make calls: half a second's calls are lost."""
MAX_CALLS = 1.05 * PROBES


@pytest.fixture(scope="module")
def restarted(
    stack: LocalStack, stack_paths: StackPaths, api: Client, aws: Callable[[str], Any], model_server: ModelServer
) -> tuple[Json, Json]:
    """The finished run, and the counts of the model server."""
    model_server.reset()
    model_server.configure(latencySeconds=0.2)
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL})
    definition_id = create_definition(api, PROBES)
    with short_timeouts(aws, "probe_custom"):
        run_id = start_run(api, definition_id, "custom/bench")
        wait_until(lambda: api.get_run(run_id)["progress"]["completed"] > PROBES // 3)
        lifecycle.down(stack_paths, print)
        assert lifecycle.up(stack_paths, None, print).token == stack.token
        run = wait_for_end(api, run_id, seconds=120)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def test_a_run_completes_after_a_restart_of_the_cloud(restarted: tuple[Json, Json]) -> None:
    run, _ = restarted
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": PROBES, "completed": PROBES, "failed": 0})


def test_every_probe_has_one_outcome(api: Client, restarted: tuple[Json, Json]) -> None:
    assert violations(api, restarted[0]) == []


def test_only_calls_in_flight_are_repeated(restarted: tuple[Json, Json]) -> None:
    counts = restarted[1]
    assert (len(counts["prompts"]), counts["requests"] <= MAX_CALLS) == (PROBES, True), counts["requests"]


def test_the_start_of_the_cloud_dispatches_the_run_again(api: Client, restarted: tuple[Json, Json]) -> None:
    recovered = [each["data"]["action"] for each in api.list_run_events(restarted[0]["id"]) if is_recovery(each)]
    assert recovered[:1] == ["redispatched"]


def is_recovery(event: Json) -> bool:
    return bool(event["type"] == RunEventType.RECOVERED)
