"""The HTTP API in this process, on one port: the page function, the API with its authorizer, and moto below them."""

import base64
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from api import app as api
from authorize import app as authorizer
from page import app as page
from tests.lambda_context import Context
from tests.unit.api.client import one_request_at_a_time

PREFIX = "/_aws/execute-api/cupel/$default"
"""As the embedded cloud has it, so that the page works below a path."""


class Gateway(BaseHTTPRequestHandler):
    """API Gateway's routes: /v1 with the authorizer, anything else is the page's."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode() if length else None
        event = {
            "version": "2.0",
            "rawPath": url.path.removeprefix(PREFIX) or "/",
            "rawQueryString": url.query,
            "queryStringParameters": {name: ",".join(each) for name, each in parse_qs(url.query).items()},
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "requestContext": {
                "http": {"method": self.command, "path": url.path},
                "stage": "$default",
                "requestId": "req",
            },
            "body": body,
            "isBase64Encoded": False,
        }
        with suppress(ConnectionError):  # A page that is closed does not wait for the answer.
            self._send(call(event))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer  # noqa: N815 - named by the base class

    def _send(self, response: dict[str, Any]) -> None:
        body = response["body"]
        content = base64.b64decode(body) if response["isBase64Encoded"] else body.encode()
        self.send_response(response["statusCode"])
        for name, value in response["headers"].items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing: the functions log their requests."""


def call(event: dict[str, Any]) -> dict[str, Any]:
    with one_request_at_a_time:
        return _call(event)


def _call(event: dict[str, Any]) -> dict[str, Any]:
    if not event["rawPath"].startswith("/v1/"):
        return page.handler(event, None)
    event["requestContext"]["authorizer"] = {"lambda": authorizer.handler(event, Context())["context"]}
    return api.handler(event, Context())


class Server:
    """Serves until the end of its context."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}{PREFIX}"

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
