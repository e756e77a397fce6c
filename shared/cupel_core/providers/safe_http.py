"""Requests to addresses that a workspace chose: agents, webhooks, evaluators. The door to the inside is shut.

The address is checked where the connection is made, so that neither a name that changes what it resolves to nor a
redirect leads around the check, and no connection that passed for one stack is used by another kind of caller.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NoReturn
from weakref import WeakKeyDictionary

import aiohttp
import httpx
import orjson
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict
from yarl import URL

from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers.addresses import header_complaints, is_inside
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.http import CONNECT_SECONDS, KEEPALIVE_SECONDS, MAX_CONNECTIONS

MAX_BYTES = 1_000_000
MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, aiohttp.ClientSession]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Answer:
    """Whatever the status. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def body(self) -> object:
        """The JSON in it, else its text."""
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError:
            return self.content.decode(errors="replace")


async def post_json(
    url: str,
    body: object,
    headers: Mapping[str, str],
    *,
    timeout_seconds: float,
    allow_private: bool,
    max_bytes: int = MAX_BYTES,
) -> Answer:
    """POSTs JSON; any status is an answer. Raises `ProviderError`, whose message never tells a header."""
    return await send(
        "POST", url, body, headers, timeout_seconds=timeout_seconds, allow_private=allow_private, max_bytes=max_bytes
    )


async def send(
    method: str,
    url: str,
    body: object,
    headers: Mapping[str, str],
    *,
    timeout_seconds: float,
    allow_private: bool,
    max_bytes: int = MAX_BYTES,
    session: aiohttp.ClientSession | None = None,
) -> Answer:
    """As `post_json`, with any method, without a body for None, and over a session of the caller's.

    The time is that of all redirects together.
    """
    content = None if body is None else orjson.dumps(body)
    request = _Request(method, _read_url(url), content, _checked(headers))
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _follow(session or _session(allow_private), request, max_bytes)
    except TimeoutError as error:
        raise ProviderError(
            ErrorCode.TIMEOUT, f"no answer from {request.url.host} within {timeout_seconds:g} s"
        ) from error


async def close() -> None:
    """For tests and commands, as `http.close`."""
    for session in _sessions.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


def new_session(is_refused: Callable[[str], bool], resolver: AbstractResolver | None = None) -> aiohttp.ClientSession:
    """`is_refused` is asked about each address. No proxies, no cookies, and no decompression: a few compressed bytes
    could fill the memory.
    """
    connector = aiohttp.TCPConnector(
        limit=MAX_CONNECTIONS,
        keepalive_timeout=KEEPALIVE_SECONDS,
        ssl=httpx.create_ssl_context(),
        resolver=resolver,
        socket_factory=partial(_open_socket, is_refused),
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        auto_decompress=False,
        trust_env=False,
    )


def _session(allow_private: bool) -> aiohttp.ClientSession:
    """The running loop's, one for each kind: a connection to the inside must not serve who may not make it."""
    opened = _sessions.setdefault(asyncio.get_running_loop(), {})
    if allow_private not in opened:
        opened[allow_private] = new_session((lambda _: False) if allow_private else is_inside)
    return opened[allow_private]


class _AddressInside(OSError):
    def __init__(self, address: str) -> None:
        super().__init__(f"{address} is inside")
        self.address = address


def _open_socket(
    is_refused: Callable[[str], bool], info: tuple[int, int, int, str, tuple[str | int, ...]]
) -> socket.socket:
    """aiohttp asks for a socket to each address it is about to connect to, whether from a name or a literal."""
    family, kind, protocol, _, address = info
    if is_refused(str(address[0])):
        raise _AddressInside(str(address[0]))
    return socket.socket(family, kind, protocol)


@dataclass(frozen=True)
class _Request:
    method: str
    url: URL
    content: bytes | None
    headers: CIMultiDict[str]

    def redirected(self, status: int, location: str) -> "_Request":
        """The headers may hold secrets, so they go to no other origin. Other than browsers do, a POST stays one."""
        try:
            url = _read_url(str(self.url.join(URL(location))))
        except ValueError:
            url = _read_url(location)
        headers = self.headers if url.origin() == self.url.origin() else CIMultiDict[str]()
        if status == 303:
            return _Request("GET", url, None, headers)
        return _Request(self.method, url, self.content, headers)


def _read_url(text: str) -> URL:
    try:
        url = URL(text)
        if url.scheme not in ("http", "https") or not url.host:
            _refuse("an address must start with http:// or https:// and name a host")
    except ValueError:
        _refuse("the address is not a valid URL")
    return url


def _checked(headers: Mapping[str, str]) -> CIMultiDict[str]:
    for name, complaint in header_complaints(headers):
        _refuse(f"the header {name} {complaint}")
    return CIMultiDict(headers)


def _refuse(why: str) -> NoReturn:
    raise ProviderError(ErrorCode.INVALID_REQUEST, why, final=True)


async def _follow(session: aiohttp.ClientSession, request: _Request, max_bytes: int) -> Answer:
    for _ in range(MAX_REDIRECTS + 1):
        answer = await _exchange(session, request, max_bytes)
        location = answer.headers.get("location")
        if answer.status not in _REDIRECTS or not location:
            return answer
        request = request.redirected(answer.status, location)
    _refuse(f"more than {MAX_REDIRECTS} redirects, the last to {request.url.host}")


async def _exchange(session: aiohttp.ClientSession, request: _Request, max_bytes: int) -> Answer:
    fixed = {"accept-encoding": "identity", **({} if request.content is None else {"content-type": "application/json"})}
    headers = CIMultiDict(request.headers)
    headers.update(fixed)
    try:
        async with session.request(
            request.method, request.url, data=request.content, headers=headers, allow_redirects=False
        ) as response:
            content = await _read(response, max_bytes)
            return Answer(response.status, response.headers, content)
    except (aiohttp.ClientError, OSError) as error:
        raise _error_of(error, str(request.url.host)) from error


async def _read(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ProviderError(ErrorCode.PROVIDER_ERROR, "the answer is compressed, which it was asked not to be")
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > max_bytes:
            raise ProviderError(ErrorCode.PROVIDER_ERROR, f"the answer is larger than {max_bytes} bytes", final=True)
    return bytes(content)


def _error_of(error: aiohttp.ClientError | OSError, host: str) -> ProviderError:
    """In words of our own: aiohttp's tell the whole address."""
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, _AddressInside):
        return ProviderError(
            ErrorCode.INVALID_REQUEST,
            f"the address {error.os_error.address} of host {host} is inside a private network; "
            "the stack does not allow private endpoints",
            final=True,
        )
    if isinstance(error, aiohttp.ServerTimeoutError):
        return ProviderError(ErrorCode.TIMEOUT, f"no connection to {host} within {CONNECT_SECONDS:g} s")
    if isinstance(error, aiohttp.InvalidURL):
        return ProviderError(ErrorCode.INVALID_REQUEST, f"the address of host {host} is not a valid URL", final=True)
    if isinstance(error, aiohttp.ClientResponseError):
        return ProviderError(ErrorCode.PROVIDER_ERROR, f"{host} does not answer in HTTP: {error.message}")
    why = error.os_error.strerror if isinstance(error, aiohttp.ClientConnectorError) else None
    return ProviderError(ErrorCode.NETWORK, f"{host}: {type(error).__name__}" + (f": {why}" if why else ""))
