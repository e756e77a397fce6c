"""Filters all requests as an ASGI application in front of the emulator: listed ones pass, all others are refused.

A browser attaches a page's origin to some requests and not to others, and other programs attach anything. So nothing is
refused for how it looks, but everything that is not listed here:

- on the first port, the path of the API, whose tokens and CORS rules apply;
- on the second port, presigned addresses of objects, with the bucket's CORS rules;
- on both, requests that are signed with the access key.

All of them must name the stack by an address that only this machine has: a page at a name that resolves to it is
refused (DNS rebinding). A request with the access key must not come from a page of another site either.

Further hosts may be named in a file, such as the public name of a forwarded port. It is read when a request names a
host that is not the stack's own, so a change needs no restart.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol
from xml.sax.saxutils import escape

from cupel.stack.access import signatures
from cupel.stack.access.signatures import SignableRequest, Signature
from cupel.stack.asgi import Application, AsgiMessage, BodyTooLargeError, Receive, Scope, Send, read_body, replay

MAX_SIGNED_BODY_BYTES = 64 * 1024 * 1024
"""The limit applies to a body that is read before the request's signature is verified; S3 states the hash in a
header."""
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_OBJECT_METHODS = ("GET", "HEAD", "PUT")
_CORS_PREFIX = b"access-control-"
_FORWARDED = frozenset(
    (
        *("host", "origin", "content-length", "transfer-encoding", "content-type", "expect", "range"),
        *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since"),
    )
)
"""Headers of a presigned request that reach the emulator though they are not signed. Others could rename the request's
service, or copy another object."""
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?:([1-9][0-9]{0,4})")
_MAX_PORT = 65_535
_USUAL_PORTS = ("80", "443")
"""Browsers leave them out."""


class Buckets(Protocol):
    """Declares the emulator's module of S3."""

    def cors_preflight(self, bucket_name: str, key: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Return the answer to OPTIONS."""

    def cors_response_headers(self, bucket_name: str, method: str, headers: dict[str, str]) -> dict[str, str]:
        """Return the headers of the rule that allows the request's origin."""


class Ports(NamedTuple):
    first: int
    objects: int


class RequestRefusal(NamedTuple):
    status: int
    reason: str


class AccessGate:
    def __init__(
        self,
        application: Application,
        secret: str,
        ports: Ports,
        api_path: str,
        read_allowed_hosts: Callable[[], Collection[str]],
        get_buckets: Callable[[], Buckets],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._application, self._secret, self._ports, self._api_path = application, secret, ports, api_path
        self._read_allowed_hosts, self._get_buckets, self._now = read_allowed_hosts, get_buckets, now
        self._own_hosts = {port: frozenset(f"{name}:{port}" for name in _OWN_NAMES) for port in ports}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # The stack has no WebSockets.
            return
        headers = _read_headers(scope["headers"])
        port, path = scope["server"][1], scope["path"]
        refusal = self._refuse_host(headers.get("host", ""), port)
        if refusal is None and port == self._ports.first and self._is_of_api(path):
            await self._application(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        if refusal is None:
            if port == self._ports.objects and "X-Amz-Signature=" in query:
                refusal = await self._serve_object(_to_request(scope, headers, query), scope, receive, send)
            else:
                refusal = await self._serve_signed(_to_request(scope, headers, query), scope, receive, send)
        if refusal is not None:
            await _refuse(send, refusal, headers)

    def _is_of_api(self, path: str) -> bool:
        """Return whether the path is of the API; the emulator itself serves `@connections`."""
        below = f"{self._api_path}/"
        return path == self._api_path or (path.startswith(below) and not path.startswith(f"{below}@connections/"))

    def _refuse_host(self, host: str, port: int) -> RequestRefusal | None:
        name = host.lower()
        if name in self._own_hosts[port] or name in self._read_allowed_hosts():
            return None
        return RequestRefusal(
            403,
            f"the stack does not answer at the host {json.dumps(host[:100])}; `cupel up --allow-host NAME:PORT` adds a "
            "host through which its port is forwarded",
        )

    async def _serve_signed(
        self, request: SignableRequest, scope: Scope, receive: Receive, send: Send
    ) -> RequestRefusal | None:
        headers = request.headers
        if _is_of_another_site(headers):
            return RequestRefusal(403, "a page of another site may not ask this")
        signature = signatures.read_header_signature(headers)
        if signature is None:
            return RequestRefusal(403, "this needs a signature with the stack's access key, which `cupel env` prints")
        payload_hash = signatures.signed_payload_hash(headers, signature)
        if payload_hash is None:
            try:
                body = await read_body(receive, MAX_SIGNED_BODY_BYTES)
            except BodyTooLargeError:
                return RequestRefusal(413, f"the body has more than {MAX_SIGNED_BODY_BYTES:,} bytes")
            payload_hash, receive = sha256(body).hexdigest(), replay(body, receive)
        if not signatures.is_valid(request, signature, payload_hash, self._secret):
            return RequestRefusal(
                403, "the signature is not of the stack's access key, which changes with each start (`cupel env`)"
            )
        await self._application(scope, receive, _without_cors(send))
        return None

    async def _serve_object(
        self, request: SignableRequest, scope: Scope, receive: Receive, send: Send
    ) -> RequestRefusal | None:
        bucket, _, key = scope["path"].removeprefix("/").partition("/")
        headers = dict(request.headers)
        if request.method == "OPTIONS":
            status, preflight, content = self._get_buckets().cors_preflight(bucket, key, headers)
            await _answer(send, status, _vary(_encode(preflight)), content)
            return None
        signature = signatures.read_presigned(request.query)
        if signature is None or signature.service != "s3" or request.method not in _OBJECT_METHODS:
            return RequestRefusal(403, "this is no presigned address of an object")
        if refusal := self._refuse_presigned(request, signature):
            return refusal
        rule = self._get_buckets().cors_response_headers(bucket, request.method, headers)
        passed = _FORWARDED.union(signature.signed_headers.split(";"))
        forwarded = [each for each in scope["headers"] if each[0].decode("latin-1").lower() in passed]
        await self._application({**scope, "headers": forwarded}, receive, _without_cors(send, _vary(_encode(rule))))
        return None

    def _refuse_presigned(self, request: SignableRequest, signature: Signature) -> RequestRefusal | None:
        if not signatures.is_valid(request, signature, signatures.UNSIGNED_PAYLOAD, self._secret):
            return RequestRefusal(403, "the address was not signed like this, or before the stack was started")
        if signatures.is_expired(request.query, self._now()):
            return RequestRefusal(403, "the address has expired")
        signed = signature.signed_headers.split(";")
        if unsigned := [name for name in request.headers if name.startswith("x-amz-") and name not in signed]:
            return RequestRefusal(403, f"headers of the request were not signed: {', '.join(unsigned)[:200]}")
        return None


def _is_of_another_site(headers: Mapping[str, str]) -> bool:
    """Decide by the headers that browsers send; `none` means that a person has typed the address."""
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers["host"]


def _read_headers(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by lower-case name. Repeated fields are joined, so that two hosts match no known host."""
    headers: dict[str, str] = {}
    for name, value in fields:
        text = name.decode("latin-1").lower()
        known = headers.get(text)
        headers[text] = value.decode("latin-1") if known is None else f"{known},{value.decode('latin-1')}"
    return headers


def _to_request(scope: Scope, headers: dict[str, str], query: str) -> SignableRequest:
    return SignableRequest(scope["method"], scope["raw_path"].decode("latin-1"), query, headers)


def _without_cors(send: Send, own: list[tuple[bytes, bytes]] | None = None) -> Send:
    """Remove the emulator's CORS headers, which allow all origins to read its responses."""

    async def send_without(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            kept = [each for each in message.get("headers", ()) if not each[0].lower().startswith(_CORS_PREFIX)]
            message = {**message, "headers": kept + own if own else kept}
        await send(message)

    return send_without


def _vary(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [*headers, (b"vary", b"Origin")]


def _encode(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), str(value).encode("latin-1")) for name, value in headers.items()]


async def _refuse(send: Send, refusal: RequestRefusal, headers: Mapping[str, str]) -> None:
    """Answer like the requested service: clients of AWS parse XML of some services, and JSON of the others."""
    if _asks_for_xml(headers):
        error = f"<Error><Code>AccessDenied</Code><Message>{escape(refusal.reason)}</Message></Error>"
        is_s3 = "/s3/" in headers.get("authorization", "")
        content, media_type = (error if is_s3 else f"<ErrorResponse>{error}</ErrorResponse>"), b"text/xml"
    else:
        content = json.dumps({"__type": "AccessDeniedException", "message": refusal.reason})
        media_type = b"application/json"
    own = [(b"content-type", media_type), (b"x-content-type-options", b"nosniff")]
    await _answer(send, refusal.status, own, content.encode())


def _asks_for_xml(headers: Mapping[str, str]) -> bool:
    """Return whether to answer in XML, as S3 does, and services whose requests are forms, such as CloudFormation and
    STS."""
    is_form = headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    return is_form or "/s3/" in headers.get("authorization", "")


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], content: bytes) -> None:
    own = [each for each in headers if each[0] != b"content-length"]
    length = (b"content-length", str(len(content)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*own, length]})
    await send({"type": "http.response.body", "body": content})


def is_host(text: str) -> bool:
    """Return whether this is NAME:PORT as browsers send it: a name in lower case, without a wildcard."""
    found = _HOST.fullmatch(text)
    return found is not None and int(found[2]) <= _MAX_PORT


def read_hosts(file: Path) -> frozenset[str]:
    """Read the additional allowed hosts, as the header Host has them. A missing or damaged file allows none."""
    try:
        hosts = [each for each in json.loads(file.read_text()) if is_host(each)]
    except (OSError, ValueError, TypeError):
        return frozenset()
    usual = (name for name, _, port in (each.rpartition(":") for each in hosts) if port in _USUAL_PORTS)
    return frozenset((*hosts, *usual))


def encode_hosts(hosts: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(hosts)))
