"""The whole embedded cloud stopped and started in the middle of a run of 1,000 probes."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.invariants import violations
from cupel.client import Client
from cupel.stack import lifecycle
from cupel.stack.address import Local
from cupel.stack.paths import Place
from tests.eval_api import Json, define, finished, start, until
from tests.faults.speedups import hurried
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 10
"""A cloud that is stopping takes no outcomes any more while its workers still call: half a second's calls are lost."""
MOST_CALLS = 1.05 * PROBES


@pytest.fixture(scope="module")
def restarted(
    stack: Local, place: Place, api: Client, aws: Callable[[str], Any], model_server: ModelServer
) -> tuple[Json, Json]:
    """The run at its end, and what the model server has counted."""
    model_server.forget()
    model_server.behave(latencySeconds=0.2)
    api.configure_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL})
    definition_id = define(api, PROBES)
    with hurried(aws, "probe-custom"):
        run_id = start(api, definition_id, "custom/bench")
        until(lambda: api.run(run_id)["progress"]["completed"] > PROBES // 3)
        lifecycle.down(place)
        assert lifecycle.up(place, None, print) == stack
        run = finished(api, run_id, seconds=120)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def test_a_run_outlives_the_cloud_it_began_in(restarted: tuple[Json, Json]) -> None:
    run, _ = restarted
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": PROBES, "completed": PROBES, "failed": 0})


def test_every_probe_has_one_outcome(api: Client, restarted: tuple[Json, Json]) -> None:
    assert violations(api, restarted[0]) == []


def test_what_was_not_in_flight_is_asked_once(restarted: tuple[Json, Json]) -> None:
    counts = restarted[1]
    assert (len(counts["prompts"]), counts["requests"] <= MOST_CALLS) == (PROBES, True), counts["requests"]
