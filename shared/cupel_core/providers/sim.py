"""The built-in simulated models: no network, no key, the same answer for the same probe. The rule is in the domain."""

import asyncio

import orjson

from cupel_core.domain.text.json_example import example_of
from cupel_core.domain.turns import simulation
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply, Usage
from cupel_core.providers.errors import ProviderError

MODEL_VERSION = "simulated-1"
MIN_LATENCY_SECONDS = 0.02
MAX_LATENCY_SECONDS = 0.06
CHARACTERS_PER_TOKEN = 4


async def answer(model_name: str, conversation: Conversation) -> Reply:
    if model_name not in simulation.MODELS:
        known = ", ".join(f"sim/{name}" for name in simulation.MODELS)
        raise ProviderError(ErrorCode.INVALID_REQUEST, f"there is no simulated model {model_name!r}; there are {known}")
    latency = simulation.draw(model_name, conversation, "latency").uniform(MIN_LATENCY_SECONDS, MAX_LATENCY_SECONDS)
    await asyncio.sleep(latency)
    if simulation.fails(model_name, conversation):
        raise ProviderError(ErrorCode.PROVIDER_ERROR, "sim/flaky fails this probe, as it does one in ten", final=True)
    if conversation.json_schema is None:
        text = simulation.answer_of(model_name, conversation)
    else:
        example = example_of(conversation.json_schema, simulation.draw(model_name, conversation, "json"))
        text = orjson.dumps(example).decode()
    prompt = sum(len(message.content) for message in conversation.messages)
    return Reply(text, MODEL_VERSION, Usage(_tokens(prompt), _tokens(len(text))), "stop")


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
