"""One request/response exchange with a provider.

Its official address is called over one client per event loop, reused for the life of the process; an address that a
workspace chose, under SSRF protection and with limits of its own (`safe_http`).
"""

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
from cupel_core.providers import PROVIDERS, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.connection_limits import CONNECT_SECONDS, KEEPALIVE_SECONDS, MAX_CONNECTIONS
from cupel_core.providers.connection_trace import connection_trace
from cupel_core.providers.errors import error_from_response, malformed_reply_error
from cupel_core.providers.failures import error_from_exception
from cupel_core.providers.rate_limits import parse_exhausted_allowance
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import HttpWireFormat, WireRequest

MAX_REPLY_BYTES = 4_000_000
"""From an address that a workspace chose. An answer may have a million characters, with up to four bytes each."""

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
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[connection_trace()]
        )

    return AiohttpTransport(verify=context, client=session)


async def exchange(
    wire_format: HttpWireFormat,
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    http_client: httpx.AsyncClient | None = None,
) -> Reply:
    """Make one attempt. Raises `ProviderError`; a timeout of an official address is the caller's."""
    wire_request = wire_format.request_for(account, model_name, request)
    response = await post(account, wire_request, timeout_seconds, now, http_client)
    try:
        reply = wire_format.parse(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise malformed_reply_error(error) from None
    exhausted = parse_exhausted_allowance(response.headers, now)
    return reply if exhausted is None else replace(reply, exhausted_allowance=exhausted)


async def post(
    account: Account,
    request: WireRequest,
    timeout_seconds: float,
    now: datetime,
    http_client: httpx.AsyncClient | None = None,
) -> HttpResponse:
    """Make one attempt; a status other than 2xx raises the matching `ProviderError`.

    An address that the workspace chose is called like that of an agent: see `safe_http`.
    """
    if http_client is None and account.base_url != PROVIDERS[account.provider].base_url:
        response = await safe_http.post_json(
            request.url,
            request.body,
            request.headers,
            timeout_seconds=timeout_seconds,
            allow_private=account.allow_private,
            max_bytes=MAX_REPLY_BYTES,
        )
    else:
        with setting_up():
            opened_client = http_client or client()
        response = await _send(opened_client, request)
    if not response.ok:
        raise error_from_response(response.status, response.headers, response.content, now)
    return response


async def _send(http_client: httpx.AsyncClient, request: WireRequest) -> HttpResponse:
    headers = {"content-type": "application/json", **request.headers}
    try:
        response = await http_client.post(request.url, content=orjson.dumps(request.body), headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
        raise error_from_exception(error) from error
    return HttpResponse(response.status_code, response.headers, response.content)
