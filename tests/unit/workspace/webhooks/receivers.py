"""A receiver of webhooks on the loopback interface, and a verification of its signatures of its own."""

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> dict[str, object]:
        parsed: dict[str, object] = orjson.loads(self.content)
        return parsed

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def is_signed_with(self, secret: str) -> bool:
        """As in the specification: HMAC-SHA256 of `id.timestamp.body` with the decoded secret."""
        key = base64.b64decode(secret.split("_", 1)[1])
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.content
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"] == f"v1,{expected}"


@dataclass
class Receiver:
    """Answers with `answer(received)`, called with each request."""

    answer: Callable[[Received], web.StreamResponse] = lambda _: web.Response(status=204)
    url: str = ""
    received: list[Received] = field(default_factory=list)

    @property
    def types(self) -> list[object]:
        return [each.body["type"] for each in self.received]

    def respond(self, status: int, headers: dict[str, str] | None = None) -> None:
        """Answer with this status from now on."""
        self.answer = lambda _: web.Response(status=status, headers=headers)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        receiver.received.append(Received(headers, await request.read()))
        return receiver.answer(receiver.received[-1])

    runner = web.ServerRunner(web.Server(handle, access_log=None), shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
