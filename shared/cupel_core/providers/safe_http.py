"""SSRF protection: requests to user-supplied addresses (agents, models, webhooks, evaluators) stay on the public
network.

The address is checked when the connection is opened, so neither DNS rebinding nor a redirect bypasses the check.
Callers that may use private addresses and callers that may not never share a connection.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import NoReturn, Protocol
from weakref import WeakKeyDictionary

import aiohttp
import orjson
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict
from yarl import URL

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers import connections
from cupel_core.providers.addresses import header_errors, is_non_public_address
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.connections import CONNECT_SECONDS, TimedConnector
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_content import decompressed, is_plain, read_json_or_text

MAX_RESPONSE_BYTES = 1_000_000
MAX_REDIRECTS = 3
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, aiohttp.ClientSession]] = WeakKeyDictionary()


@dataclass(frozen=True)
class HttpResponse:
    """A response with any status. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def body(self) -> object:
        """Return the parsed JSON content, or its text if it is not JSON. Raise `ProviderError` for a page or a
        stream."""
        return read_json_or_text(self.content, self.headers, self.status)


class ContentReader(Protocol):
    def reads(self, headers: Mapping[str, str]) -> bool:
        """Return whether it reads a successful response with these headers. The content of the response is empty
        then."""
        ...

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes. Return whether more should be read. It limits how many those may be."""
        ...


async def post_json(
    url: str,
    body: object,
    headers: Mapping[str, str],
    *,
    timeout_seconds: float,
    allow_private: bool,
    max_bytes: int = MAX_RESPONSE_BYTES,
    reader: ContentReader | None = None,
) -> HttpResponse:
    """Send JSON by POST and return the response, whatever its status. Raise `ProviderError` if there is no response.
    Its message never contains a header value."""
    return await send(
        "POST",
        url,
        body,
        headers,
        timeout_seconds=timeout_seconds,
        allow_private=allow_private,
        max_bytes=max_bytes,
        reader=reader,
    )


async def send(
    method: str,
    url: str,
    body: object,
    headers: Mapping[str, str],
    *,
    timeout_seconds: float,
    allow_private: bool,
    max_bytes: int = MAX_RESPONSE_BYTES,
    session: aiohttp.ClientSession | None = None,
    reader: ContentReader | None = None,
) -> HttpResponse:
    """Send a request like `post_json`, with any method, without a body if it is None, optionally over a given session.
    `timeout_seconds` covers all redirects together."""
    content = None if body is None else orjson.dumps(body)
    request = _OutgoingRequest(method, _read_url(url), content, _validated(headers))
    try:
        async with asyncio.timeout(timeout_seconds):
            with setting_up():
                session = session or _session(allow_private)
            return await _send_following_redirects(session, request, max_bytes, reader)
    except TimeoutError as error:
        raise _no_response(request, timeout_seconds) from error


async def post_for_status(
    url: str, content: bytes, headers: Mapping[str, str], *, timeout_seconds: float, allow_private: bool
) -> int:
    """Send these bytes of JSON by POST and return the status. Redirects are not followed, and no body is read. Raise
    `ProviderError` if there is no response."""
    request = _OutgoingRequest("POST", _read_url(url), content, _validated(headers))
    try:
        async with asyncio.timeout(timeout_seconds), _request(_session(allow_private), request) as response:
            return response.status
    except TimeoutError as error:
        raise _no_response(request, timeout_seconds) from error
    except (aiohttp.ClientError, OSError) as error:
        raise error_without_response(error, request.url) from error


async def close() -> None:
    for session in _sessions.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


def new_session(is_blocked: Callable[[str], bool], resolver: AbstractResolver | None = None) -> aiohttp.ClientSession:
    """Return a session that opens no connection to an address for which `is_blocked` returns True. It does not
    decompress, because a few compressed bytes could exhaust the memory."""
    connector = TimedConnector(resolver=resolver, socket_factory=partial(_open_socket, is_blocked))
    return connections.new_session(connector, decompresses=False)


def _session(allow_private: bool) -> aiohttp.ClientSession:
    """Return the running loop's session for this kind of caller. They are separate, so that a connection to a private
    address is never reused by a caller that may not open one."""
    sessions = _sessions.setdefault(asyncio.get_running_loop(), {})
    if allow_private not in sessions:
        sessions[allow_private] = new_session((lambda _: False) if allow_private else is_non_public_address)
    return sessions[allow_private]


class _NonPublicAddressError(OSError):
    def __init__(self, address: str) -> None:
        super().__init__(f"{address} is not a public address")
        self.address = address


def _open_socket(
    is_blocked: Callable[[str], bool], info: tuple[int, int, int, str, tuple[str | int, ...]]
) -> socket.socket:
    """Open a socket. aiohttp calls this for each address before it connects, resolved from a name or given
    literally."""
    family, kind, protocol, _, address = info
    if is_blocked(str(address[0])):
        raise _NonPublicAddressError(str(address[0]))
    return socket.socket(family, kind, protocol)


@dataclass(frozen=True)
class _OutgoingRequest:
    method: str
    url: URL
    content: bytes | None
    headers: CIMultiDict[str]

    def redirected(self, status: int, location: str) -> "_OutgoingRequest":
        """Return the request that follows a redirect. Headers may contain secrets, so they are not sent to another
        origin. Unlike in browsers, a POST stays a POST."""
        try:
            url = _read_url(str(self.url.join(URL(location))))
        except ValueError:
            url = _read_url(location)
        headers = self.headers if url.origin() == self.url.origin() else CIMultiDict[str]()
        if status == 303:
            return _OutgoingRequest("GET", url, None, headers)
        return _OutgoingRequest(self.method, url, self.content, headers)


def _read_url(text: str) -> URL:
    try:
        url = URL(text)
        if url.scheme not in ("http", "https") or not url.host:
            _reject("the address must start with http:// or https:// and name a host")
    except ValueError:
        _reject("the address is not a valid URL")
    return url


def _validated(headers: Mapping[str, str]) -> CIMultiDict[str]:
    for name, reason in header_errors(headers):
        _reject(f"the header {name} {reason}")
    return CIMultiDict(headers)


def _reject(reason: str) -> NoReturn:
    raise ProviderError(ProbeErrorCode.INVALID_REQUEST, reason, final=True)


async def _send_following_redirects(
    session: aiohttp.ClientSession, request: _OutgoingRequest, max_bytes: int, reader: ContentReader | None
) -> HttpResponse:
    for _ in range(MAX_REDIRECTS + 1):
        response = await _exchange(session, request, max_bytes, reader)
        location = response.headers.get("location")
        if response.status not in _REDIRECT_STATUSES or not location:
            return response
        request = request.redirected(response.status, location)
    _reject(f"more than {MAX_REDIRECTS} redirects, the last to {request.url.host}")


async def _exchange(
    session: aiohttp.ClientSession, request: _OutgoingRequest, max_bytes: int, reader: ContentReader | None
) -> HttpResponse:
    try:
        async with _request(session, request) as response:
            received = await read_response(response, max_bytes, reader)
            if is_plain(response.headers):
                return received
            return replace(received, content=decompressed(received.content, response.headers, max_bytes))
    except (aiohttp.ClientError, OSError) as error:
        raise error_without_response(error, request.url) from error


def _request(
    session: aiohttp.ClientSession, request: _OutgoingRequest
) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
    required = {
        "accept-encoding": "identity",
        **({} if request.content is None else {"content-type": "application/json"}),
    }
    headers = CIMultiDict(request.headers)
    headers.update(required)
    return session.request(request.method, request.url, data=request.content, headers=headers, allow_redirects=False)


async def read_response(
    response: aiohttp.ClientResponse, max_bytes: int, reader: ContentReader | None = None
) -> HttpResponse:
    """Return the response with its content. Raise `ProviderError` if that is larger than `max_bytes`."""
    content = bytearray()
    if (
        reader is not None
        and HttpResponse(response.status, response.headers, b"").ok
        and reader.reads(response.headers)
    ):
        async for chunk in response.content.iter_any():
            if not reader.feed(chunk):
                break
        return HttpResponse(response.status, response.headers, b"")
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > max_bytes:
            raise ProviderError(
                ProbeErrorCode.PROVIDER_ERROR, f"the response is larger than {max_bytes} bytes", final=True
            )
    return HttpResponse(response.status, response.headers, bytes(content))


def _no_response(request: _OutgoingRequest, timeout_seconds: float) -> ProviderError:
    return ProviderError(ProbeErrorCode.TIMEOUT, f"no response from {request.url.host} within {timeout_seconds:g} s")


def error_without_response(error: aiohttp.ClientError | OSError, url: URL | str) -> ProviderError:
    """Return the `ProviderError` for an exchange that ended without a response. Its message does not quote aiohttp's,
    which contain the full URL."""
    host = _host_of(url)
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, _NonPublicAddressError):
        return ProviderError(
            ProbeErrorCode.INVALID_REQUEST,
            f"the address {error.os_error.address} of host {host} is in a private network; "
            "this stack does not allow private endpoints",
            final=True,
        )
    if isinstance(error, aiohttp.ServerTimeoutError):
        return ProviderError(
            ProbeErrorCode.TIMEOUT, f"no connection to {host} within {CONNECT_SECONDS:g} s", refused=True
        )
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return ProviderError(
            ProbeErrorCode.INVALID_REQUEST, f"the address of host {host} is not a valid URL", final=True
        )
    if isinstance(error, aiohttp.ClientResponseError):
        return ProviderError(
            ProbeErrorCode.PROVIDER_ERROR, f"the response of {host} is not valid HTTP: {error.message}"
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = f": {error.os_error.strerror}" if error.os_error.strerror else ""
        return ProviderError(ProbeErrorCode.NETWORK, f"no connection to {host}{reason}", refused=True)
    message = f"the connection to {host} was interrupted ({type(error).__name__})"
    return ProviderError(ProbeErrorCode.NETWORK, message, refused=False)


def _host_of(url: URL | str) -> str:
    try:
        return str(URL(url).host)
    except ValueError:
        return ""
