"""OpenAI's own client on the API's functions, with strict validation of every response."""

from contextlib import redirect_stdout
from io import StringIO
from typing import Any
from urllib.parse import parse_qs

import httpx2
from openai import OpenAI

from tests.unit.api.client import Client


def openai_client(client: Client, token: str | None = None, **options: Any) -> OpenAI:
    """Refuses responses that do not fit the client's own models."""
    return OpenAI(
        base_url="https://cupel.example/openai/v1",
        api_key=token or client.token or "cupel_none",
        http_client=httpx2.Client(transport=httpx2.MockTransport(_transport(client))),
        max_retries=0,
        **{"_strict_response_validation": True, **options},
    )


def _transport(client: Client) -> Any:
    def call(request: httpx2.Request) -> httpx2.Response:
        with redirect_stdout(StringIO()):
            response = client.request(
                request.method,
                request.url.path,
                raw_body=request.content,
                headers={name: value for name, value in request.headers.items() if name != "authorization"},
                token=request.headers["authorization"].removeprefix("Bearer "),
                query=parse_qs(request.url.query.decode()),
            )
        headers = {name: value for name, value in response.headers.items() if name != "Content-Encoding"}
        return httpx2.Response(response.status, headers=headers, content=response.content)

    return call
