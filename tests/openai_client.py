"""OpenAI's own client on the API's functions, with strict validation of every response.

The client's models require values that OpenAI's service leaves null, as do we. The strict client reads them as empty.
"""

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import Any
from urllib.parse import parse_qs

import httpx2
from openai import OpenAI

from tests.unit.api.client import Client

_KNOWN_PURPOSE = "user_data"
"""The client's model of a file does not know the purpose `evals`, with which it uploads one."""
_NULL_IN_RUNS = {"error": {"code": "", "message": ""}}
_NULL_IN_SAMPLES = {**_NULL_IN_RUNS, "finish_reason": "", "seed": 0, "max_completion_tokens": 0}


def openai_client(client: Client, token: str | None = None, *, is_strict: bool = True, **options: Any) -> OpenAI:
    """A strict client refuses responses that do not fit its own models, except where OpenAI's own do not."""
    return OpenAI(
        base_url="https://cupel.example/openai/v1",
        api_key=token or client.token or "cupel_none",
        http_client=httpx2.Client(transport=httpx2.MockTransport(_transport(client, is_strict))),
        max_retries=0,
        **{"_strict_response_validation": is_strict, **options},
    )


def _transport(client: Client, is_strict: bool) -> Any:
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
        content = _filled(response.content) if is_strict else response.content
        headers.pop("Content-Length", None)
        return httpx2.Response(response.status, headers=headers, content=content)

    return call


def _filled(content: bytes) -> bytes:
    """The response with a value for each null that the client's models do not accept."""
    try:
        document = json.loads(content)
    except ValueError:
        return content
    if not isinstance(document, dict) or "object" not in document:
        return content
    for each in document["data"] if isinstance(document.get("data"), list) else [document]:
        match each.get("object"):
            case "eval.run":
                _fill(each, _NULL_IN_RUNS)
            case "file":
                each["purpose"] = _KNOWN_PURPOSE
            case "upload" if "file" in each:
                each["file"]["purpose"] = _KNOWN_PURPOSE
            case "eval.run.output_item":
                _fill(each["sample"], _NULL_IN_SAMPLES)
    return json.dumps(document).encode()


def _fill(document: dict[str, Any], values: dict[str, Any]) -> None:
    for name, value in values.items():
        if document[name] is None:
            document[name] = value
