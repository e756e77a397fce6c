"""One HTTP client per event loop, reused for the life of the process, and one request/response exchange over it."""

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

from cupel_core.domain.turns.model_request import ModelRequest, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.errors import error_from_response, malformed_reply_error
from cupel_core.providers.failures import error_from_exception
from cupel_core.providers.rate_limits import parse_exhausted_allowance
from cupel_core.providers.wire_format import HttpWireFormat, WireRequest

MAX_CONNECTIONS = 128
"""More than any consumer has in flight, so that no request waits for a connection."""
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
    """Close the running loop's client. For tests and commands: a Lambda worker keeps its connections until it ends."""
    open_client = _clients.pop(asyncio.get_running_loop(), None)
    if open_client is not None:
        await open_client.aclose()


def new_client(transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """httpx over aiohttp's connection pool: httpx's own pool is searched linearly on every request (docs/decisions.md).

    No read timeout, because the caller limits the whole exchange; no cookies, because workspaces share the client.
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
    http_client: httpx.AsyncClient,
    wire_format: HttpWireFormat,
    account: Account,
    model_name: str,
    request: ModelRequest,
    now: datetime,
) -> Reply:
    """Make one attempt. Raises `ProviderError` for every failure except a timeout, which is the caller's."""
    response = await post(http_client, wire_format.request_for(account, model_name, request), now)
    try:
        reply = wire_format.parse(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise malformed_reply_error(error) from None
    exhausted = parse_exhausted_allowance(response.headers, now)
    return reply if exhausted is None else replace(reply, exhausted_allowance=exhausted)


async def post(http_client: httpx.AsyncClient, request: WireRequest, now: datetime) -> httpx.Response:
    """Make one attempt; a status other than 2xx raises the matching `ProviderError`."""
    response = await _send(http_client, request)
    if not response.is_success:
        raise error_from_response(response.status_code, response.headers, response.content, now)
    return response


async def _send(http_client: httpx.AsyncClient, request: WireRequest) -> httpx.Response:
    headers = {"content-type": "application/json", **request.headers}
    try:
        return await http_client.post(request.url, content=orjson.dumps(request.body), headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
        raise error_from_exception(error) from error
