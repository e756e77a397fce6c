"""The built-in simulated models: no network, no key, the same answer for the same probe.

The answers are computed in `cupel_core.domain.turns.simulation`.
"""

import asyncio

import orjson

from cupel_core.domain.text.json_example import example_of
from cupel_core.domain.turns import simulation
from cupel_core.domain.turns.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers.errors import ProviderError

MODEL_VERSION = "simulated-1"
MIN_LATENCY_SECONDS = 0.02
MAX_LATENCY_SECONDS = 0.06
CHARACTERS_PER_TOKEN = 4


async def complete(model_name: str, request: ModelRequest) -> Reply:
    if model_name not in simulation.MODELS:
        known = ", ".join(f"sim/{name}" for name in simulation.MODELS)
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST, f'unknown simulated model "{model_name}"; known models: {known}'
        )
    latency = simulation.turn_rng(model_name, request, "latency").uniform(MIN_LATENCY_SECONDS, MAX_LATENCY_SECONDS)
    await asyncio.sleep(latency)
    if simulation.should_fail(model_name, request):
        raise ProviderError(
            ProbeErrorCode.PROVIDER_ERROR, "sim/flaky fails this probe, as it fails one in ten", final=True
        )
    if request.json_schema is None:
        text = simulation.simulated_answer(model_name, request)
    else:
        example = example_of(request.json_schema, simulation.turn_rng(model_name, request, "json"))
        text = orjson.dumps(example).decode()
    prompt = sum(len(message.content) for message in request.messages)
    return Reply(text, MODEL_VERSION, Usage(_token_count(prompt), _token_count(len(text))), "stop")


def _token_count(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
