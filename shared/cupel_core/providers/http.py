"""One HTTP client per event loop, kept for the life of the process, and one exchange over it."""

import asyncio
from dataclasses import replace
from datetime import datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from weakref import WeakKeyDictionary

import aiohttp
import httpx
import orjson
from httpx_aiohttp import AiohttpTransport
from pydantic import ValidationError

from cupel_core.domain.turns.model_request import Conversation, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.errors import error_of_response, not_understood
from cupel_core.providers.failures import error_of_exception
from cupel_core.providers.rate_limits import read_limits
from cupel_core.providers.wire_format import HttpWire, WireRequest

MAX_CONNECTIONS = 128
"""More than any consumer has in flight, so that no request waits for another's connection."""
KEEPALIVE_SECONDS = 60.0
CONNECT_SECONDS = 10.0

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()


def client() -> httpx.AsyncClient:
    """The running loop's client. A connection belongs to the loop that opened it."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = new_client()
    return _clients[loop]


async def close() -> None:
    """For tests and commands: a Lambda worker keeps its connections until it is frozen for good."""
    opened = _clients.pop(asyncio.get_running_loop(), None)
    if opened is not None:
        await opened.aclose()


def new_client(transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """httpx over aiohttp's connections: httpx's own pool is searched at every request (docs/decisions.md).

    No read timeout: the caller bounds the whole exchange. No cookies: workspaces share the client.
    """
    return httpx.AsyncClient(
        transport=transport or _aiohttp_transport(),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


def _aiohttp_transport() -> AiohttpTransport:
    context = httpx.create_ssl_context()

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS, keepalive_timeout=KEEPALIVE_SECONDS, ttl_dns_cache=300, ssl=context
        )
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    return AiohttpTransport(verify=context, client=session)


async def exchange(
    connection: httpx.AsyncClient,
    wire: HttpWire,
    account: Account,
    model_name: str,
    conversation: Conversation,
    now: datetime,
) -> Reply:
    """One attempt. Raises `ProviderError` for every way it can fail but time, which is the caller's."""
    response = await post(connection, wire.request_for(account, model_name, conversation), now)
    try:
        reply = wire.parse(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise not_understood(error) from None
    limits = read_limits(response.headers, now)
    return reply if limits is None else replace(reply, limits=limits)


async def post(connection: httpx.AsyncClient, request: WireRequest, now: datetime) -> httpx.Response:
    """One attempt; a response without success is the `ProviderError` that it means."""
    response = await _send(connection, request)
    if not response.is_success:
        raise error_of_response(response.status_code, response.headers, response.content, now)
    return response


async def _send(connection: httpx.AsyncClient, request: WireRequest) -> httpx.Response:
    headers = {"content-type": "application/json", **request.headers}
    try:
        return await connection.post(request.url, content=orjson.dumps(request.body), headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
        raise error_of_exception(error) from error
