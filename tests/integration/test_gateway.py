"""Rejected requests, as answered by gateway, authorizer and API together."""

from collections.abc import Callable
from hashlib import sha256
from time import time
from typing import Any

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.workspace.access.request_rates import key_of
from tests.files_for_tests import png
from tests.stacks import PAGE_ORIGIN, table_of

PROBLEM = "application/problem+json"
ORIGIN = "http://localhost:5173"
MAX_REQUESTS = 200
"""A busy machine may take so long for each of the first that none of them exceeds two per second."""


def send(stack: LocalStack, method: str, path: str, **headers: str) -> httpx.Response:
    return httpx.request(method, f"{stack.api_url}/v1{path}", headers=headers, timeout=30, trust_env=False)


def test_a_request_without_token_gets_a_401(stack: LocalStack) -> None:
    response = send(stack, "GET", "/runs")
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert (response.json()["status"], response.json()["title"]) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/runs"), ("DELETE", "/runs/run_x"), ("GET", "/transcripts/x-0")]
)
def test_every_route_requires_a_token(stack: LocalStack, method: str, path: str) -> None:
    response = send(stack, method, path)
    assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (401, PROBLEM)


def test_an_allowed_origin_may_read_an_error(stack: LocalStack) -> None:
    response = send(stack, "GET", "/runs", Origin=ORIGIN)
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (401, ORIGIN)


def test_another_origin_may_not_read_the_response(stack: LocalStack) -> None:
    response = send(stack, "GET", "/health", Origin="http://elsewhere.example")
    assert "access-control-allow-origin" not in response.headers


def test_a_preflight_allows_the_methods_and_headers_of_the_api(stack: LocalStack) -> None:
    preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    response = send(stack, "OPTIONS", "/runs", **preflight, **{"Access-Control-Request-Headers": "authorization"})
    assert response.status_code == 204
    assert "POST" in response.headers["access-control-allow-methods"]
    assert "idempotency-key" in response.headers["access-control-allow-headers"].lower()


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_a_page_of_a_configured_origin_may_send_requests_with_a_token(stack: LocalStack, method: str) -> None:
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type"}
    preflight = send(stack, "OPTIONS", "/definitions", Origin=PAGE_ORIGIN, **asked)
    assert preflight.headers["access-control-allow-origin"] == PAGE_ORIGIN
    assert method.lower() in _names(preflight, "access-control-allow-methods")
    assert {"authorization", "content-type", "if-match"} <= _names(preflight, "access-control-allow-headers")


def test_a_page_of_a_configured_origin_reads_the_response_and_its_version(stack: LocalStack) -> None:
    response = send(stack, "GET", "/settings", Origin=PAGE_ORIGIN, Authorization=f"Bearer {stack.token}")
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, PAGE_ORIGIN)
    assert {"etag", "location", "retry-after"} <= _names(response, "access-control-expose-headers")


def test_a_preflight_of_another_origin_allows_nothing(stack: LocalStack) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    response = send(stack, "OPTIONS", "/runs", Origin="https://evil.example", **asked)
    assert response.headers.get("access-control-allow-origin") not in ("*", "https://evil.example")


def test_a_page_uploads_a_file_to_its_address(api: Client) -> None:
    content = png(3, 2)
    sizes = {"name": "x.png", "type": "image/png", "size": len(content), "sha256": sha256(content).hexdigest()}
    upload = api.create_file(sizes)["upload"]
    names = ",".join(sorted(name.lower() for name in upload["headers"]))
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": names}
    preflight = httpx.options(upload["url"], headers={"Origin": PAGE_ORIGIN, **asked}, trust_env=False)
    stored = httpx.put(upload["url"], content=content, headers={**upload["headers"], "Origin": PAGE_ORIGIN})
    assert stored.status_code == 200
    allowed = {each.headers["access-control-allow-origin"] for each in (preflight, stored)}
    assert allowed <= {PAGE_ORIGIN, "*"}  # S3 names the origin of the bucket's rule; the embedded one allows all


def _names(response: httpx.Response, header: str) -> set[str]:
    return {name.strip().lower() for name in response.headers[header].split(",")}


def test_an_unknown_path_gets_a_problem_document(stack: LocalStack) -> None:
    response = send(stack, "GET", "/nowhere", Authorization=f"Bearer {stack.token}")
    assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (404, PROBLEM)


def test_an_invalid_json_body_gets_a_problem_document(stack: LocalStack) -> None:
    headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
    response = httpx.post(f"{stack.api_url}/v1/runs", content=b"{", headers=headers, trust_env=False)
    assert (response.status_code, response.json()["detail"]) == (400, "the body is not valid JSON")


def test_a_large_response_reaches_a_client_compressed(stack: LocalStack) -> None:
    plain = send(stack, "GET", "/openapi.json", **{"Accept-Encoding": "identity"})
    compressed = send(stack, "GET", "/openapi.json", **{"Accept-Encoding": "gzip"})
    assert (plain.headers.get("content-encoding"), compressed.headers["content-encoding"]) == (None, "gzip")
    assert compressed.json() == plain.json()


def test_head_is_answered_without_a_body(stack: LocalStack) -> None:
    response = send(stack, "HEAD", "/settings", Authorization=f"Bearer {stack.token}")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["etag"]


def test_a_token_above_its_limit_is_told_when_to_come_back(
    stack: LocalStack, api: Client, aws: Callable[[str], Any]
) -> None:
    issued = api.create_token("busy", "viewer")
    key = key_of(Caller("default", AccessRole.VIEWER, issued["id"]))
    full_at = {"pk": {"S": f"token#{key}"}, "sk": {"S": "rate"}, "fullAt": {"N": str(time() + 3600)}}
    aws("dynamodb").put_item(TableName=table_of(aws), Item=full_at)
    answers = (send(stack, "GET", "/settings", Authorization=f"Bearer {issued['token']}") for _ in range(MAX_REQUESTS))
    refused = next(answer for answer in answers if answer.status_code != 200)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.headers["ratelimit-policy"] == '"token";q=100;w=2'
