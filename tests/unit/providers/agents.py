"""HTTP servers on the loopback interface, which record the requests they receive."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from aiohttp import web


class ReceivedRequest(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    port: int
    """The client's port: one for each connection."""


type Handler = Callable[[ReceivedRequest], web.StreamResponse | Awaitable[web.StreamResponse]]


@dataclass
class Agent:
    url: str
    requests: list[ReceivedRequest] = field(default_factory=list)


def json(body: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json", headers=headers)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[Agent]:
    agent = Agent("")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        content = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = orjson.loads(content) if content else None
        assert request.transport is not None
        port = request.transport.get_extra_info("peername")[1]
        agent.requests.append(ReceivedRequest(request.method, request.path_qs, headers, body, port))
        response = handler(agent.requests[-1])
        return response if isinstance(response, web.StreamResponse) else await response

    runner = web.ServerRunner(web.Server(handle, handler_cancellation=True, access_log=None), shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    agent.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield agent
    finally:
        await runner.cleanup()


@asynccontextmanager
async def serving_bytes(write: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
    """Read the head of a request, let `write` send any bytes, and close the connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await write(writer)
        except ConnectionError:
            pass  # the client has closed the connection
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
