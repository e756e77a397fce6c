"""Requests of real AWS clients, as the gate receives them, and a gate in front of an emulator that only takes notes."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from botocore.config import Config
from botocore.session import get_session

from cupel.stack.access.gate import AccessGate, Ports
from cupel.stack.access.signatures import AccessKey
from cupel.stack.asgi import AsgiMessage, Receive, Scope, Send

KEY = AccessKey("CUPEL0123456789ABCDEF", "5ec2e7" * 8)
OTHER_KEY = AccessKey(KEY.key_id, "0" * 48)
PORTS = Ports(4566, 4567)
API_PATH = "/_aws/execute-api/cupel/$default"
BUCKET = "cupel-bucket"
PAGE = "https://pages.example:8443"
"""The origin that the bucket's rule allows."""


@dataclass(frozen=True)
class Sent:
    method: str = "GET"
    target: str = "/"
    """Path and query, percent-encoded."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    port: int = PORTS.first

    def with_headers(self, **headers: str) -> "Sent":
        """`sec_fetch_site` stands for Sec-Fetch-Site."""
        added = {name.replace("_", "-"): value for name, value in headers.items()}
        return Sent(self.method, self.target, {**self.headers, **added}, self.body, self.port)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    reached: list[Scope]
    """The emulator received these requests."""
    received: bytes
    """The body that the emulator read."""


class FakeBuckets:
    """Imitates the emulator's module of S3, with one rule that allows one origin."""

    def cors_preflight(self, bucket_name: str, key: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        allowed = self.cors_response_headers(bucket_name, headers.get("access-control-request-method", ""), headers)
        return (200, allowed, b"") if allowed and key else (403, {}, b"not allowed")

    def cors_response_headers(self, bucket_name: str, method: str, headers: dict[str, str]) -> dict[str, str]:
        is_allowed = bucket_name == BUCKET and method in ("GET", "PUT") and headers.get("origin") == PAGE
        return {"Access-Control-Allow-Origin": PAGE} if is_allowed else {}


def ask(sent: Sent, *, hosts: Collection[str] = (), now: datetime | None = None) -> Answer:
    """Send a request to the gate; the emulator behind it allows all origins."""
    reached: list[Scope] = []
    received: list[bytes] = []
    messages: list[AsgiMessage] = []

    async def emulator(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)
        while True:
            message = await receive()
            received.append(message["body"])
            if not message["more_body"]:
                break
        headers = [(b"Access-Control-Allow-Origin", b"*"), (b"access-control-expose-headers", b"*"), (b"etag", b'"1"')]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"answer"})

    async def note(message: AsgiMessage) -> None:
        messages.append(message)

    gate = AccessGate(
        emulator, KEY.secret, PORTS, API_PATH, lambda: hosts, FakeBuckets, now=lambda: now or datetime.now(UTC)
    )
    asyncio.run(gate(_scope(sent), _receive(sent.body), note))
    start, *rest = messages
    headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(each["body"] for each in rest), reached, b"".join(received))


def _scope(sent: Sent) -> Scope:
    path, _, query = sent.target.partition("?")
    headers = {"host": f"127.0.0.1:{sent.port}", **sent.headers}
    return {
        "type": "http",
        "method": sent.method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items() if value],
        "server": ("127.0.0.1", sent.port),
    }


def _receive(body: bytes) -> Receive:
    """Return a channel that delivers the body in two pieces."""
    middle = len(body) // 2
    pieces = [(body[middle:], False), (body[:middle], True)]

    async def receive() -> AsgiMessage:
        piece, more = pieces.pop()
        return {"type": "http.request", "body": piece, "more_body": more}

    return receive


class _SentError(Exception):
    """Instead of sending a request."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent


@cache
def _client(service: str, key: AccessKey, port: int, config: Config) -> Any:
    """Made once: that takes longer than a hundred calls."""
    client = get_session().create_client(
        service,
        region_name="us-east-1",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
        config=config,
    )
    client.meta.events.register("before-send", partial(_intercept, port))
    return client


_CALLS = Config(proxies={})
_ADDRESSES = Config(proxies={}, signature_version="s3v4", s3={"addressing_style": "virtual"})


def _intercept(port: int, request: Any, **_: Any) -> None:
    parts = urlsplit(request.url)
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    body = request.body.read() if hasattr(request.body, "read") else request.body or b""
    raise _SentError(
        Sent(request.method, target, {**headers, "host": parts.netloc}, _text(body).encode("latin-1"), port)
    )


def signed_by_botocore(
    service: str, operation: str, arguments: Mapping[str, Any], key: AccessKey = KEY, port: int = PORTS.first
) -> Sent:
    """Return the request that an AWS client would send for this call."""
    with pytest.raises(_SentError) as raised:
        getattr(_client(service, key, port, _CALLS), operation)(**arguments)
    return raised.value.sent


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def presigned(operation: str, seconds: int = 600, key: AccessKey = KEY, **parameters: Any) -> Sent:
    """The address of an object, as the functions make it."""
    client = _client("s3", key, PORTS.objects, _ADDRESSES)
    url = client.generate_presigned_url(operation, Params={"Bucket": BUCKET, **parameters}, ExpiresIn=seconds)
    parts = urlsplit(url)
    method = "PUT" if operation == "put_object" else "GET"
    return Sent(method, f"{parts.path}?{parts.query}", {"host": parts.netloc}, port=PORTS.objects)
