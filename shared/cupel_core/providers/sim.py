"""The built-in simulated models: no network, no key, the same answer for the same probe.

The answers are computed in `cupel_core.domain.conversations.simulation`.
"""

import asyncio
import re
from collections.abc import Callable, Iterator

import orjson

from cupel_core.domain.conversations import image_descriptions, simulation
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.parts import FilePart
from cupel_core.domain.text.json_example import example_of
from cupel_core.providers.errors import ProviderError

MODEL_VERSION = "simulated-1"
MIN_LATENCY_SECONDS = 0.02
MAX_LATENCY_SECONDS = 0.06
CHARACTERS_PER_TOKEN = 4
_WORD = re.compile(r"\s*\S+|\s+")


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
    prompt = sum(len(message.content) for message in request.messages)
    calls = simulation.tool_calls(model_name, request)
    seen = await _what_is_seen(model_name, request) if request.files else ""
    text, finish_reason = (
        ("", "tool_calls") if calls else _limited(seen + _text(model_name, request), request.parameters)
    )
    written = len(text) + sum(len(call.arguments) for call in calls)
    usage = Usage(_token_count(prompt), _token_count(written))
    return Reply(text, MODEL_VERSION, usage, finish_reason, tool_calls=calls)


async def stream(model_name: str, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
    """Return the reply, and pass its words to `on_text` one by one."""
    reply = await complete(model_name, request)
    for word in _WORD.findall(reply.text):
        on_text(word)
        await asyncio.sleep(0)
    return reply


async def _what_is_seen(model_name: str, request: ModelRequest) -> str:
    """Return a line for each file of the last user message. It runs in a thread, because decoding takes long."""
    if model_name == "echo" or request.wants_json:
        return ""
    lines = await asyncio.to_thread(lambda: [image_descriptions.describe(*each) for each in _numbered_files(request)])
    return "".join(f"{line}\n" for line in lines) + "\n" * bool(lines)


def _numbered_files(request: ModelRequest) -> Iterator[tuple[int, FilePart, bytes]]:
    asked = next((each for each in reversed(request.messages) if each.role is MessageRole.USER), None)
    for number, part in enumerate(asked.files if asked else (), start=1):
        yield number, part, request.files[part.file_id or ""]


def _text(model_name: str, request: ModelRequest) -> str:
    if not request.wants_json:
        return simulation.simulated_answer(model_name, request)
    schema = request.json_schema or {"type": "object", "properties": {"answer": {"type": "string"}}}
    example = example_of(schema, simulation.turn_rng(model_name, request, "json"))
    verdict = simulation.lenient_verdict(model_name, request)
    if verdict is not None and isinstance(example, dict):
        example |= {name: _judged(name, value, verdict) for name, value in example.items()}
    return orjson.dumps(example).decode()


def _judged(name: str, value: object, verdict: bool) -> object:
    """Return the value of a judge's field that agrees with the verdict."""
    if isinstance(value, bool):
        return verdict != name.startswith("failure")
    return float(verdict) if name == "score" else value


def _limited(text: str, parameters: ModelParameters) -> tuple[str, str]:
    """Return the text up to the first stop sequence or the limit of tokens, and its finish reason."""
    ends = [end for stop in parameters.stop if (end := text.find(stop)) >= 0]
    text = text[: min(ends)] if ends else text
    limit = (parameters.max_output_tokens or len(text)) * CHARACTERS_PER_TOKEN
    return (text[:limit], "length") if len(text) > limit else (text, "stop")


def _token_count(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
