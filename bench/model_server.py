"""Runs a local model server: the OpenAI, Anthropic and Google formats with fixed latency, seeded faults, counts and
scripts.

`python -m bench.model_server --latency 0.2 --rate-429 0.05` prints one JSON line with its port. It also has `GET
/counts`, `POST /reset` (counts only) and `POST /configure` (any of the fields of `Behaviour`, in camelCase). A request
costs about 0.1 ms of CPU, because the server shares the machine with the measured programs.
"""

import argparse
import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from time import time
from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from bench import texts
from bench.model_formats import FORMATS, Prompt, WireFormat, reply_text, token_count
from bench.model_streams import frames, is_streamed
from cupel_core.domain.text.json_example import example_of

FAULTS = ("429", "500", "drop", "hang", "badJson")


class ScriptLine(BaseModel):
    """Defines the reply to prompts that contain a text: a text, an object as JSON, or, with a status, an error.

    With `model`, only prompts to this model match. In OpenAI's format, `{"toolCalls": [{"name", "arguments"}]}` calls
    functions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    contains: str = ""
    model: str | None = None
    reply: str | dict[str, Any] = ""
    status: int = 200


class Behaviour(BaseModel):
    """Defines how the server replies. `rates` are shares of all requests by fault; `answer` replaces the default
    reply."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    latency_seconds: float = 0.0
    latency_spread: float = 0.0
    """Relative: with 1/3, 3 seconds become 2 to 4, drawn from the prompt and the attempt."""
    rates: dict[str, float] = Field(default_factory=dict)
    retry_after_seconds: float = 1.0
    seed: int = 1
    answer: str | None = None
    short_answers: bool = False
    """If true, answers replace the realistic ones of `bench/texts.py`."""
    script: tuple[ScriptLine, ...] = ()
    word_seconds: float = 0.0
    broken_streams: int = 0
    """Number of streams of a prompt that are dropped after half of their events."""

    def fault_of(self, prompt: Prompt, attempt: int) -> str | None:
        """Return a fault by the seed, the prompt and the attempt, and so independently of the order of requests."""
        if not self.rates:
            return None
        draw = self._draw(prompt, attempt)
        for fault in FAULTS:
            draw -= self.rates.get(fault, 0.0)
            if draw < 0:
                return fault
        return None

    def latency_of(self, prompt: Prompt, attempt: int) -> float:
        if not self.latency_spread:
            return self.latency_seconds
        return self.latency_seconds * (1 + self.latency_spread * (2 * self._draw(prompt, attempt) - 1))

    def _draw(self, prompt: Prompt, attempt: int) -> float:
        """Return a number from 0 to 1."""
        # Values of a checksum for attempts 1, 2, 3 would be correlated, so that no fault occurred twice in a row.
        digest = blake2b(f"{self.seed}:{prompt.digest}:{attempt}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64

    def script_line(self, prompt: Prompt) -> ScriptLine:
        """Return the first matching line of the script, else the configured answer, else the default reply."""
        for line in self.script:
            if line.contains in prompt.text and line.model in (None, prompt.model):
                return line
        return ScriptLine(reply=self.answer if self.answer is not None else self._default_reply(prompt))

    def _default_reply(self, prompt: Prompt) -> str | dict[str, Any]:
        if prompt.schema is not None:
            return _matching(prompt.schema, prompt.digest)
        if self.short_answers:
            return f"A short answer, which flatters.\n\nRating: {prompt.digest % 5 + 1}"
        return texts.answer(prompt.digest)


def _matching(schema: dict[str, Any], digest: int) -> str | dict[str, Any]:
    example = example_of(schema, Random(digest))  # noqa: S311 - reproducible, not secret
    return example if isinstance(example, dict) else orjson.dumps(example).decode()


@dataclass
class Counts:
    """Counts the requests so far. Times are seconds since 1970."""

    requests: int = 0
    in_flight: int = 0
    in_flight_peak: int = 0
    first_request_at: float | None = None
    last_request_at: float | None = None
    input_tokens: int = 0
    """Together with the next field, it is what a provider would bill for all replies, even those that nobody
    received."""
    output_tokens: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, int] = field(default_factory=dict)

    def start_request(self, prompt: Prompt) -> int:
        now = time()
        self.requests += 1
        self.first_request_at = self.first_request_at or now
        self.last_request_at = now
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        attempt = self.prompts.get(prompt.key, 0) + 1
        self.prompts[prompt.key] = attempt
        return attempt

    def count_tokens(self, prompt: str, reply: str) -> None:
        self.input_tokens += token_count(prompt)
        self.output_tokens += token_count(reply)

    def count_status(self, status: str) -> None:
        self.by_status[status] = self.by_status.get(status, 0) + 1

    def to_json(self) -> dict[str, object]:
        return {to_camel(name): value for name, value in vars(self).items()}


class ModelServer:
    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.counts = Counts()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        for wire_format in FORMATS:
            if (model := wire_format.model_in(request.path)) is not None:
                return await self._complete(request, wire_format, model)
        match request.path:
            case "/counts":
                return _json(self.counts.to_json())
            case "/reset":
                self.counts = Counts(in_flight=self.counts.in_flight)
                return _json({})
            case "/configure":
                return await self._configure(request)
        return _json({"error": {"message": f"no such path: {request.path}"}}, 404)

    async def _configure(self, request: web.BaseRequest) -> web.Response:
        changes = Behaviour.model_validate_json(await request.read()).model_dump(exclude_unset=True)
        self.behaviour = Behaviour.model_validate({**self.behaviour.model_dump(), **changes})
        return _json(self.behaviour.model_dump(by_alias=True))

    async def _complete(self, request: web.BaseRequest, wire_format: WireFormat, model: str) -> web.StreamResponse:
        asked = orjson.loads(await request.read())
        prompt = wire_format.read(asked, model)
        behaviour, counts = self.behaviour, self.counts
        attempt = counts.start_request(prompt)
        fault = behaviour.fault_of(prompt, attempt)
        try:
            if fault:
                counts.count_status(fault)
                return await _fail(request, wire_format, fault, behaviour)
            line = behaviour.script_line(prompt)
            if line.status == 200:
                counts.count_tokens(prompt.text, reply_text(line.reply))
            await asyncio.sleep(behaviour.latency_of(prompt, attempt))
            counts.count_status(str(line.status))
            body = wire_format.reply(prompt, line.reply) if line.status == 200 else wire_format.error(str(line.reply))
            if line.status == 200 and is_streamed(request.path, asked):
                return await _stream(request, frames(body), behaviour, is_broken=attempt <= behaviour.broken_streams)
            return _json(body, line.status)
        finally:
            counts.in_flight -= 1


async def _stream(
    request: web.BaseRequest, events: list[bytes], behaviour: Behaviour, *, is_broken: bool
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for event in events[: len(events) // 2] if is_broken else events:
        await response.write(event)
        await asyncio.sleep(behaviour.word_seconds)
    if is_broken and request.transport is not None:
        request.transport.close()
    return response


async def _fail(request: web.BaseRequest, wire_format: WireFormat, fault: str, behaviour: Behaviour) -> web.Response:
    if fault == "hang":
        await asyncio.Event().wait()
    await asyncio.sleep(behaviour.latency_seconds)
    if fault == "drop":
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
    if fault == "badJson":
        return web.Response(body=b'{"choices": [{"mess', content_type="application/json")
    response = _json(wire_format.error(f"an injected fault: {fault}"), int(fault))
    if fault == "429":
        response.headers["retry-after"] = f"{behaviour.retry_after_seconds:g}"
    return response


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


@asynccontextmanager
async def serving(server: ModelServer, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve on the loopback interface and yield `http://127.0.0.1:<port>`; abort hanging requests at the end."""
    web_server = web.Server(server.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(web_server, shutdown_timeout=0.01)  # A timeout of 0 means no limit.
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024, ssl_context=tls)
    await site.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def parse_options(arguments: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--retry-after", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--certificate", metavar="FILE", help="serve https with this certificate and its key (PEM)")
    for fault, option in zip(FAULTS, ("429", "500", "drop", "hang", "bad-json"), strict=True):
        parser.add_argument(f"--rate-{option}", type=float, default=0.0, dest=fault, metavar="SHARE")
    return parser.parse_args(None if arguments is None else list(arguments))


def behaviour_of(options: argparse.Namespace) -> Behaviour:
    return Behaviour(
        latency_seconds=options.latency,
        retry_after_seconds=options.retry_after,
        seed=options.seed,
        rates={fault: rate for fault in FAULTS if (rate := getattr(options, fault))},
    )


def _tls_of(options: argparse.Namespace) -> ssl.SSLContext | None:
    if options.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate)
    return context


async def _serve() -> None:
    options = parse_options()
    async with serving(ModelServer(behaviour_of(options)), options.port, _tls_of(options)) as base_url:
        print(orjson.dumps({"port": int(base_url.rpartition(":")[2]), "url": base_url}).decode(), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve())
