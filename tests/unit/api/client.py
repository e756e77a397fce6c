"""A client that calls the two functions as API Gateway would: the authorizer, then the API with its context."""

import base64
import gzip
import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from threading import RLock
from typing import Any
from urllib.parse import urlencode

import httpx

from api import app as api
from authorize import app as authorizer
from cupel_core.domain.access import AccessRole
from cupel_core.store import blobs
from cupel_core.workspace.access import tokens
from tests.lambda_context import Context

one_request_at_a_time = RLock()
"""Like an instance of a function. The browser's server of tests/web calls the same functions in threads. A request
may be sent in the course of another by the same thread."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str
    sent_length: int = 0
    """Of the body as the function returns it."""
    content: bytes = b""
    """What a client receives; `text` of a file that is no text is empty."""

    def json(self) -> Any:
        return json.loads(self.text)

    def fields(self) -> list[str]:
        """The fields that a problem document names."""
        assert self.headers["Content-Type"] == "application/problem+json"
        return [wrong["field"] for wrong in self.json()["errors"]]


def event(
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: str | None = None,
    query: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """HTTP API, payload 2.0."""
    return {
        "version": "2.0",
        "routeKey": "ANY /v1/{proxy+}",
        "rawPath": path,
        "rawQueryString": urlencode(query or {}, doseq=True),
        "queryStringParameters": {key: _joined(value) for key, value in (query or {}).items()},
        "headers": {key.lower(): value for key, value in (headers or {}).items()},
        "requestContext": {"http": {"method": method, "path": path}, "stage": "$default", "requestId": "request-1"},
        "body": body,
        "isBase64Encoded": False,
    }


def _joined(values: Any) -> str:
    """As API Gateway passes a parameter that was sent several times."""
    return ",".join(values) if isinstance(values, list) else str(values)


@dataclass
class Client:
    token: str | None

    def issue(self, workspace: str = "acme", role: AccessRole = AccessRole.ADMIN) -> str:
        """The secret of a new token."""
        return tokens.issue(workspace, role, "test", datetime(2026, 1, 1, tzinfo=UTC)).secret

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> Answer:
        return self.request("POST", path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> Answer:
        return self.request("PUT", path, json=json, **options)

    def patch(self, path: str, json: Any = None, **options: Any) -> Answer:
        return self.request("PATCH", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.request("DELETE", path, **options)

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: str | None = None,
        raw_body: bytes | None = None,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
    ) -> Answer:
        sent = dict(headers or {})
        if bearer := token or self.token:
            sent.setdefault("Authorization", f"Bearer {bearer}")
        asked = event(method, path, sent, _text(json) if body is None and json is not None else body, query)
        if raw_body:
            asked |= _encoded(raw_body, sent)
        if method != "OPTIONS":
            asked["requestContext"]["authorizer"] = {"lambda": authorizer.handler(asked, Context())["context"]}
        return call(asked)


def call(asked: dict[str, Any]) -> Answer:
    with one_request_at_a_time:
        return _call(asked)


def _call(asked: dict[str, Any]) -> Answer:
    return answered(api.handler(asked, Context()))


def answered(answer: dict[str, Any]) -> Answer:
    """What a client gets of what a function returns."""
    content = _received(answer)
    return Answer(answer["statusCode"], answer["headers"], _decoded(content), len(answer["body"]), content)


def _received(answer: dict[str, Any]) -> bytes:
    """The body that a client reads: API Gateway decodes base64, and the client gzip."""
    if not answer["isBase64Encoded"]:
        return str(answer["body"]).encode()
    content = base64.b64decode(answer["body"], validate=True)
    return gzip.decompress(content) if answer["headers"].get("Content-Encoding") == "gzip" else content


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return ""


def _encoded(content: bytes, headers: dict[str, str]) -> dict[str, Any]:
    """As API Gateway passes a body: as text if its type says that it is, else in base64."""
    content_type = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    if content_type.startswith("application/json"):
        return {"body": content.decode(), "isBase64Encoded": False}
    return {"body": base64.b64encode(content).decode(), "isBase64Encoded": True}


def _text(value: Any) -> str:
    return json.dumps(value)


def api_transport(client: Client) -> httpx.MockTransport:
    """An httpx transport that calls the functions instead of a server, and stores uploads to the bucket's address."""

    def call(request: httpx.Request) -> httpx.Response:
        if request.url.host.endswith(".amazonaws.com"):
            media_type = request.headers["content-type"]
            blobs.put_file(f"uploads/{request.url.path.partition('/uploads/')[2]}", request.content, media_type)
            return httpx.Response(200)
        with redirect_stdout(StringIO()):  # The log of the function is not output of the command.
            response = client.request(
                request.method,
                request.url.path,
                body=request.content.decode() or None,
                headers=dict(request.headers),
                query={name: request.url.params.get_list(name) for name in request.url.params},
            )
        headers = {name: value for name, value in response.headers.items() if name != "Content-Encoding"}
        return httpx.Response(response.status, headers=headers, text=response.text)

    return httpx.MockTransport(call)
