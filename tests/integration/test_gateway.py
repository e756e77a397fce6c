"""What the gateway, the authorizer and the API make together of requests that are not let in."""

import httpx
import pytest

from cupel.stack.address import Local

PROBLEM = "application/problem+json"
ORIGIN = "http://localhost:5173"


def ask(stack: Local, method: str, path: str, **headers: str) -> httpx.Response:
    return httpx.request(method, f"{stack.api_url}/v1{path}", headers=headers, timeout=30, trust_env=False)


def test_a_request_without_token_is_told_what_is_missing(stack: Local) -> None:
    answer = ask(stack, "GET", "/runs")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert (answer.json()["status"], answer.json()["title"]) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/runs"), ("DELETE", "/runs/run_x"), ("GET", "/transcripts/x-0")]
)
def test_no_route_is_open_without_a_token(stack: Local, method: str, path: str) -> None:
    answer = ask(stack, method, path)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (401, PROBLEM)


def test_a_page_may_read_its_refusal(stack: Local) -> None:
    answer = ask(stack, "GET", "/runs", Origin=ORIGIN)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, ORIGIN)


def test_a_page_of_elsewhere_may_read_nothing(stack: Local) -> None:
    answer = ask(stack, "GET", "/health", Origin="http://elsewhere.example")
    assert "access-control-allow-origin" not in answer.headers


def test_a_preflight_allows_what_the_api_takes(stack: Local) -> None:
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    answer = ask(stack, "OPTIONS", "/runs", **asked, **{"Access-Control-Request-Headers": "authorization"})
    assert answer.status_code == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "idempotency-key" in answer.headers["access-control-allow-headers"].lower()


def test_an_unknown_address_is_a_problem_document(stack: Local) -> None:
    answer = ask(stack, "GET", "/nowhere", Authorization=f"Bearer {stack.token}")
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, PROBLEM)


def test_a_body_that_is_no_json_is_a_problem_document(stack: Local) -> None:
    headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
    answer = httpx.post(f"{stack.api_url}/v1/runs", content=b"{", headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["detail"]) == (400, "the body is not valid JSON")
