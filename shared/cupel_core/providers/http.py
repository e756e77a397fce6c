"""One exchange of a request and a response with a provider.

Its official address is called over one session per event loop, reused for the life of the process. An address that a
workspace chose is called under SSRF protection and with limits of its own (`safe_http`).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import aiohttp
import orjson

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import access_tokens, find_provider, is_own_server, safe_http
from cupel_core.providers.access_tokens import SendRequest
from cupel_core.providers.account import Account, secrets_of
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.connections import TimedConnector, new_session
from cupel_core.providers.errors import ProviderError, error_from_response
from cupel_core.providers.reply_content import ReplyContent, read_content
from cupel_core.providers.reply_ends import marked_as_cut
from cupel_core.providers.retry_after import parse_exhausted_allowance
from cupel_core.providers.safe_http import ContentReader, HttpResponse
from cupel_core.providers.streams.formats import StreamFormat
from cupel_core.providers.streams.reply_stream import OnText, ReplyStream
from cupel_core.providers.token_usage import cost_in_headers
from cupel_core.providers.wire_format import HttpWireFormat, WireRequest

MAX_REPLY_BYTES = 4_000_000
"""An answer may have a million characters, with up to four bytes each."""
_DNS_CACHE_SECONDS = 300

_TOKEN_SOURCES = {"azure": access_tokens.with_entra_token, "vertex": access_tokens.with_google_token}

_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()


def session() -> aiohttp.ClientSession:
    """Return the running loop's session. A connection belongs to the loop that opened it."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        _sessions[loop] = new_session(TimedConnector(ttl_dns_cache=_DNS_CACHE_SECONDS), decompresses=True)
    return _sessions[loop]


async def close() -> None:
    """Close the running loop's session, for tests and commands. A Lambda worker does not close its connections."""
    open_session = _sessions.pop(asyncio.get_running_loop(), None)
    if open_session is not None:
        await open_session.close()


async def send_request(request: WireRequest, reader: ContentReader | None = None) -> HttpResponse:
    """Send a POST to an official address. Redirects are not followed."""
    with setting_up():
        opened = session()
    content = urlencode(request.body).encode() if request.is_form else orjson.dumps(request.body)
    kind = "application/x-www-form-urlencoded" if request.is_form else "application/json"
    headers = {"content-type": kind, **request.headers}
    try:
        async with opened.post(request.url, data=content, headers=headers, allow_redirects=False) as response:
            return await safe_http.read_response(response, MAX_REPLY_BYTES, reader)
    except (aiohttp.ClientError, OSError) as error:
        raise safe_http.error_without_response(error, request.url) from error


async def exchange(
    wire_format: HttpWireFormat,
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    send: SendRequest | None = None,
) -> Reply:
    """Make one attempt. Raise `ProviderError`. The caller limits the time of a call to an official address."""
    account = await with_access_token(account, now, send)
    wire_request = wire_format.request_for(account, model_name, request)
    response = await post(account, wire_request, timeout_seconds, now, send)
    return _with_cut_noted(parse_response(wire_format, wire_request, response, now), account, wire_request)


async def exchange_stream(
    wire_format: HttpWireFormat,
    stream_format: StreamFormat,
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    on_text: OnText,
    *,
    with_usage: bool,
) -> Reply:
    """Make one attempt over a stream, whose text is passed to `on_text` as it arrives. A server that does not stream
    its answer is supported too."""
    account = await with_access_token(account, now)
    wire_request = stream_format.streaming(wire_format.request_for(account, model_name, request), with_usage=with_usage)
    stream = ReplyStream(stream_format.reply_of(wire_request), on_text)
    response = await post(account, wire_request, timeout_seconds, now, reader=stream)
    if stream.is_used:
        reply = with_headers(wire_format.parse(stream.body()), response.headers, now)
    else:
        reply = parse_response(wire_format, wire_request, response, now)
        on_text(reply.text)
    return _with_cut_noted(reply, account, wire_request)


def _with_cut_noted(reply: Reply, account: Account, request: WireRequest) -> Reply:
    """Mark an answer as cut if a server of the user's own may not say so in the Responses API. llama.cpp does not."""
    limit = request.body.get("max_output_tokens")
    return marked_as_cut(reply, limit) if isinstance(limit, int) and is_own_server(account.provider) else reply


def parse_response(wire_format: HttpWireFormat, request: WireRequest, response: HttpResponse, now: datetime) -> Reply:
    """Return the reply in a response, which may be a stream that was not requested. Raise `ProviderError`."""
    content = read_content(response.content, response.headers, response.status)
    return with_headers(_parse(wire_format, request, content), response.headers, now)


def _parse(wire_format: HttpWireFormat, request: WireRequest, content: ReplyContent) -> Reply:
    events = content.events
    if events is None and isinstance(content.value, list):
        events = tuple(content.value)  # Google streams a list unless it is asked for events.
    if not events:
        return wire_format.parse(None if content.value == [] else content.value)
    if len(events) == 1:
        try:
            return wire_format.parse(events[0])
        except ProviderError as error:
            if not error.is_malformed:
                raise
    from cupel_core.providers.streams.formats import body_of_events

    return wire_format.parse(body_of_events(wire_format, request, events))


def with_headers(reply: Reply, headers: Mapping[str, str], now: datetime) -> Reply:
    """Return the reply with the data of its response's headers: an exhausted allowance, and a gateway's cost."""
    exhausted = parse_exhausted_allowance(headers, now)
    cost = reply.cost_usd if reply.cost_usd is not None else cost_in_headers(headers)
    if exhausted is None and cost is reply.cost_usd:
        return reply
    return replace(reply, exhausted_allowance=exhausted, cost_usd=cost)


async def with_access_token(account: Account, now: datetime, send: SendRequest | None = None) -> Account:
    """Return the account as it is, or with an access token that its provider grants for its key. Raise
    `ProviderError`."""
    source = _TOKEN_SOURCES.get(account.provider)
    return account if source is None else await source(account, send or send_request, now)


async def post(
    account: Account,
    request: WireRequest,
    timeout_seconds: float,
    now: datetime,
    send: SendRequest | None = None,
    reader: ContentReader | None = None,
) -> HttpResponse:
    """Make one attempt. Raise the matching `ProviderError` for a status other than 2xx, and for a missing address. An
    address that the workspace chose is called like that of an agent: see `safe_http`."""
    if not account.base_url:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"provider {account.provider} has no baseUrl")
    provider = find_provider(account.provider)
    if send is None and (provider is None or account.base_url != provider.base_url):
        response = await safe_http.post_json(
            request.url,
            request.body,
            request.headers,
            timeout_seconds=timeout_seconds,
            allow_private=account.allow_private,
            max_bytes=MAX_REPLY_BYTES,
            reader=reader,
        )
    else:
        response = await (send(request) if send is not None else send_request(request, reader))
    if not response.ok:
        raise error_from_response(response.status, response.headers, _without_key(response.content, account), now)
    return response


def _without_key(content: bytes, account: Account) -> bytes:
    """Remove the key or the access token, which some servers repeat when they refuse it."""
    for secret in secrets_of(account.api_key):
        content = content.replace(secret.encode(), b"[key]")
    return content
