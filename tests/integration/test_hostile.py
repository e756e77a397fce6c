"""A provider of which a tenth of all calls fail: whatever a retry can save is saved, and hardly a call is wasted."""

from collections.abc import Callable
from typing import Any

import pytest

from bench.invariants import violations
from bench.model_formats import Prompt
from bench.model_server import Behaviour
from cupel.client import Client
from cupel_core.domain.limits.backoff import RETRIES
from tests.eval_api import RATING, Json, define, finished, start
from tests.faults.speedups import hurried
from tests.stacks import ModelServer

PROBES = 1_000
RATES = {"429": 0.05, "500": 0.02, "drop": 0.01, "hang": 0.01, "badJson": 0.01}
SEED = 7
MOST_CALLS = 1.12 * PROBES
PROMPTS = [f"Question {n}: rate it." for n in range(PROBES)]


def calls_needed(text: str) -> int:
    """Until the first that does not fail: the server decides by the prompt and how often it was asked."""
    behaviour = Behaviour(rates=RATES, seed=SEED)
    asked = 1
    while behaviour.fault_of(Prompt("bench", text, text), asked):
        asked += 1
    return asked


@pytest.fixture(scope="module")
def served(api: Client, aws: Callable[[str], Any], model_server: ModelServer) -> tuple[Json, Json]:
    """The run at its end, and what the model server has counted."""
    model_server.forget()
    model_server.behave(latencySeconds=0.2, rates=RATES, seed=SEED, retryAfterSeconds=0.2)
    api.configure_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    definition_id = define(api, PROMPTS, RATING)
    with hurried(aws, "probe-custom"):
        run = finished(api, start(api, definition_id, "custom/bench"), seconds=120)
    counts = model_server.counts()
    print(f"{counts['requests']} model calls for {PROBES} probes")
    return run, counts


def test_the_faults_are_all_there(served: tuple[Json, Json]) -> None:
    assert set(RATES) <= set(served[1]["byStatus"])


def test_every_probe_has_one_outcome(api: Client, served: tuple[Json, Json]) -> None:
    assert violations(api, served[0]) == []


def test_no_probe_is_errored_that_a_retry_could_have_saved(served: tuple[Json, Json]) -> None:
    hopeless = sum(calls_needed(prompt) > 1 + RETRIES for prompt in PROMPTS)
    assert (served[0]["status"], served[0]["progress"]["failed"]) == ("COMPLETED", hopeless)


def test_no_more_calls_are_made_than_the_faults_ask_for(served: tuple[Json, Json]) -> None:
    needed = sum(min(calls_needed(prompt), 1 + RETRIES) for prompt in PROMPTS)
    assert served[1]["requests"] <= MOST_CALLS
    assert served[1]["requests"] <= needed
