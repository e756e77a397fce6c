"""A local model server: the OpenAI, Anthropic and Google formats with fixed latency, seeded faults, counts and scripts.

`python -m bench.model_server --latency 0.2 --rate-429 0.05` prints one JSON line with its port. Beside the three APIs:
`GET /counts`, `POST /reset` (counts only) and `POST /configure` (any of the fields of `Behaviour`, in camelCase).
It is kept cheap, about 0.1 ms a request: it shares the machine with what it measures.
"""

import argparse
import asyncio
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

from bench.model_formats import FORMATS, Format, Prompt
from cupel_core.domain.text.json_example import example_of

FAULTS = ("429", "500", "drop", "hang", "badJson")


class Line(BaseModel):
    """What to answer a prompt that contains something: a text, an object as JSON, or with a status an error.

    With `model` only prompts to this one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    contains: str = ""
    model: str | None = None
    reply: str | dict[str, Any] = ""
    status: int = 200


class Behaviour(BaseModel):
    """How the server answers. `rates` are shares of all requests by fault; `answer` stands for the default answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    latency_seconds: float = 0.0
    latency_spread: float = 0.0
    """A third makes 3 seconds anything from 2 to 4, drawn by the prompt and how often it was asked."""
    rates: dict[str, float] = Field(default_factory=dict)
    retry_after_seconds: float = 1.0
    seed: int = 1
    answer: str | None = None
    script: tuple[Line, ...] = ()

    def fault_of(self, prompt: Prompt, attempt: int) -> str | None:
        """Decided by the seed, the prompt and how often it was asked, so the order of requests changes nothing."""
        if not self.rates:
            return None
        luck = self._luck(prompt, attempt)
        for fault in FAULTS:
            luck -= self.rates.get(fault, 0.0)
            if luck < 0:
                return fault
        return None

    def seconds_of(self, prompt: Prompt, attempt: int) -> float:
        """How long this answer takes."""
        if not self.latency_spread:
            return self.latency_seconds
        return self.latency_seconds * (1 + self.latency_spread * (2 * self._luck(prompt, attempt) - 1))

    def _luck(self, prompt: Prompt, attempt: int) -> float:
        """From 0 to 1."""
        # No checksum: its values for attempts 1, 2, 3 depend on each other, so that no fault came twice in a row.
        drawn = blake2b(f"{self.seed}:{prompt.digest}:{attempt}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn) / 2**64

    def line_for(self, prompt: Prompt) -> Line:
        """The first scripted line that fits, else the fixed answer, else one of its own."""
        for line in self.script:
            if line.contains in prompt.text and line.model in (None, prompt.model):
                return line
        return Line(reply=self.answer if self.answer is not None else _own_answer(prompt))


def _own_answer(prompt: Prompt) -> str | dict[str, Any]:
    if prompt.schema is not None:
        example = example_of(prompt.schema, Random(prompt.digest))  # noqa: S311 - reproducible, not secret
        return example if isinstance(example, dict) else orjson.dumps(example).decode()
    return f"An answer of the bench model server, which is no language model.\n\nRating: {prompt.digest % 5 + 1}"


@dataclass
class Counts:
    """What has been asked so far. Times are seconds since the epoch."""

    requests: int = 0
    in_flight: int = 0
    in_flight_peak: int = 0
    first_request_at: float | None = None
    last_request_at: float | None = None
    by_status: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, int] = field(default_factory=dict)

    def enter(self, prompt: Prompt) -> int:
        """Counts a request and tells how often this prompt has been asked now."""
        now = time()
        self.requests += 1
        self.first_request_at = self.first_request_at or now
        self.last_request_at = now
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        asked = self.prompts.get(prompt.key, 0) + 1
        self.prompts[prompt.key] = asked
        return asked

    def tell(self, status: str) -> None:
        self.by_status[status] = self.by_status.get(status, 0) + 1

    def shown(self) -> dict[str, object]:
        return {to_camel(name): value for name, value in vars(self).items()}


class ModelServer:
    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.counts = Counts()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        for each in FORMATS:
            if (model := each.model_in(request.path)) is not None:
                return await self._complete(request, each, model)
        match request.path:
            case "/counts":
                return _json(self.counts.shown())
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

    async def _complete(self, request: web.BaseRequest, wire: Format, model: str) -> web.StreamResponse:
        prompt = wire.read(orjson.loads(await request.read()), model)
        behaviour, counts = self.behaviour, self.counts
        attempt = counts.enter(prompt)
        fault = behaviour.fault_of(prompt, attempt)
        try:
            if fault:
                counts.tell(fault)
                return await _fail(request, wire, fault, behaviour)
            await asyncio.sleep(behaviour.seconds_of(prompt, attempt))
            line = behaviour.line_for(prompt)
            counts.tell(str(line.status))
            body = wire.answer(prompt, line.reply) if line.status == 200 else wire.error(str(line.reply))
            return _json(body, line.status)
        finally:
            counts.in_flight -= 1


async def _fail(request: web.BaseRequest, wire: Format, fault: str, behaviour: Behaviour) -> web.Response:
    if fault == "hang":
        await asyncio.Event().wait()
    await asyncio.sleep(behaviour.latency_seconds)
    if fault == "drop":
        if request.transport is not None:
            request.transport.abort()
        return web.Response()
    if fault == "badJson":
        return web.Response(body=b'{"choices": [{"mess', content_type="application/json")
    response = _json(wire.error(f"an injected fault: {fault}"), int(fault))
    if fault == "429":
        response.headers["retry-after"] = f"{behaviour.retry_after_seconds:g}"
    return response


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


@asynccontextmanager
async def serving(server: ModelServer, port: int = 0) -> AsyncIterator[str]:
    """Serves on the loopback interface and yields `http://127.0.0.1:<port>`; what still hangs at the end is cut off."""
    web_server = web.Server(server.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(web_server, shutdown_timeout=0.01)  # 0 would mean to wait for ever
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--retry-after", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    for fault, option in zip(FAULTS, ("429", "500", "drop", "hang", "bad-json"), strict=True):
        parser.add_argument(f"--rate-{option}", type=float, default=0.0, dest=fault, metavar="SHARE")
    return parser.parse_args(None if given is None else list(given))


def behaviour_of(given: Iterable[str] | None = None) -> tuple[Behaviour, int]:
    """The behaviour and port that command line options ask for."""
    options = _arguments(given)
    behaviour = Behaviour(
        latency_seconds=options.latency,
        retry_after_seconds=options.retry_after,
        seed=options.seed,
        rates={fault: rate for fault in FAULTS if (rate := getattr(options, fault))},
    )
    return behaviour, options.port


async def _serve() -> None:
    behaviour, port = behaviour_of()
    async with serving(ModelServer(behaviour), port) as base_url:
        print(orjson.dumps({"port": int(base_url.rpartition(":")[2]), "url": base_url}).decode(), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve())
