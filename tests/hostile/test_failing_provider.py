"""A provider with 10 % failing calls: every recoverable probe completes, and few calls are wasted."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.invariants import violations
from bench.model_formats import Prompt
from bench.model_server import Behaviour
from cupel.client import Client
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from tests.eval_api import RATING, Json, create_definition, start_run, wait_for_end
from tests.faults.speedups import short_timeouts
from tests.stacks import ModelServer

PROBES = 1_000
RATES = {"429": 0.05, "500": 0.02, "drop": 0.01, "hang": 0.01, "badJson": 0.01}
SEED = 7
MAX_CALLS = 1.12 * PROBES
PROMPTS = [f"Question {n}: rate it." for n in range(PROBES)]


def calls_needed(text: str) -> int:
    """Number of calls until one succeeds: the server decides by prompt and attempt."""
    behaviour = Behaviour(rates=RATES, seed=SEED)
    attempts = 1
    while behaviour.fault_of(Prompt("bench", text, text), attempts):
        attempts += 1
    return attempts


@pytest.fixture(scope="module")
def result(api: Client, aws: Callable[[str], Any], model_server: ModelServer) -> tuple[Json, Json]:
    """The finished run, and the counts of the model server."""
    model_server.reset()
    model_server.configure(latencySeconds=0.2, rates=RATES, seed=SEED, retryAfterSeconds=0.2)
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    definition_id = create_definition(api, PROMPTS, RATING)
    with short_timeouts(aws, "probe_custom"):
        run = wait_for_end(api, start_run(api, definition_id, "custom/bench"), seconds=120)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def test_every_kind_of_fault_occurs(result: tuple[Json, Json]) -> None:
    assert set(RATES) <= set(result[1]["byStatus"])


def test_every_probe_has_one_outcome(api: Client, result: tuple[Json, Json]) -> None:
    assert violations(api, result[0]) == []


def test_only_unrecoverable_probes_are_errored(result: tuple[Json, Json]) -> None:
    unrecoverable = sum(calls_needed(prompt) > MAX_ATTEMPTS for prompt in PROMPTS)
    assert (result[0]["status"], result[0]["progress"]["failed"]) == ("COMPLETED", unrecoverable)


def test_no_more_calls_are_made_than_the_faults_require(result: tuple[Json, Json]) -> None:
    needed = sum(min(calls_needed(prompt), MAX_ATTEMPTS) for prompt in PROMPTS)
    assert result[1]["requests"] <= MAX_CALLS
    assert result[1]["requests"] <= needed
