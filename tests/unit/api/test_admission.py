import base64
import hashlib
import json

import pytest

from cupel_core.store.settings import Settings, settings
from tests.unit.api.client import Client, call, event


def test_a_request_without_token_is_unauthorized(client: Client) -> None:
    client.token = None
    answer = client.get("/v1/providers")
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.usefixtures("client")
def test_a_request_that_bypassed_the_authorizer_is_unauthorized() -> None:
    assert call(event("GET", "/v1/providers")).status == 401


def test_an_unknown_token_is_unauthorized(client: Client) -> None:
    assert client.get("/v1/providers", token=f"cupel_{'x' * 43}").status == 401


def test_an_unknown_route_without_token_is_unauthorized(client: Client) -> None:
    client.token = None
    assert client.get("/v1/nothing").status == 401


def test_health_needs_no_token(client: Client) -> None:
    client.token = None
    answer = client.get("/v1/health")
    assert (answer.status, answer.json()["status"]) == (200, "ok")


def test_an_unknown_route_is_a_404_problem(client: Client) -> None:
    answer = client.get("/v1/nothing")
    assert (answer.status, answer.json()["title"]) == (404, "Not found")


def test_a_path_outside_v1_is_a_404_problem(client: Client) -> None:
    assert client.get("/providers").status == 404


def test_a_wrong_method_lists_the_allowed_ones(client: Client) -> None:
    answer = client.delete("/v1/providers")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


def test_a_viewer_may_read(client: Client, viewer: str) -> None:
    assert client.get("/v1/providers", token=viewer).status == 200


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/runs"), ("DELETE", "/v1/runs/x"), ("PUT", "/v1/providers/sim")]
)
def test_a_viewer_may_not_write(client: Client, viewer: str, method: str, path: str) -> None:
    assert client.request(method, path, json={}, token=viewer).status == 403


def test_malformed_json_is_a_400_problem(client: Client) -> None:
    answer = client.post("/v1/runs", body='{"definitionId": ')
    assert (answer.status, answer.headers["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("body", ['{"name": NaN}', '"\\ud800"', "[" * 100_000])
def test_json_that_only_lenient_parsers_accept_is_malformed(client: Client, body: str) -> None:
    assert client.post("/v1/tokens", body=body).status == 400


@pytest.mark.parametrize("body", ["[]", "1", "null", '"text"', ""])
def test_a_body_that_is_no_object_is_invalid(client: Client, body: str) -> None:
    answer = client.post("/v1/tokens", body=body)
    assert answer.status == 422
    assert answer.fields() == ["body"]


def test_a_body_of_2_mb_is_too_large(client: Client) -> None:
    answer = client.post("/v1/runs", body=json.dumps({"definitionId": "x" * 2_000_000}))
    assert (answer.status, answer.json()["title"]) == (413, "Content too large")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "null", "multipart/form-data", "application/x-www-form-urlencoded"]
)
@pytest.mark.parametrize("body", ["a=b", ""])
def test_another_content_type_is_refused(client: Client, content_type: str, body: str) -> None:
    assert client.post("/v1/runs", body=body, headers={"Content-Type": content_type}).status == 415


@pytest.mark.usefixtures("client")
def test_a_body_of_other_bytes_than_utf8_is_a_400_problem() -> None:
    asked = event("POST", "/v1/tokens", body=base64.b64encode(b'{"name": "\xff"}').decode())
    asked["isBase64Encoded"] = True
    asked["requestContext"]["authorizer"] = {"lambda": {"workspace": "acme", "role": "admin", "tokenId": "tok_1"}}
    assert call(asked).status == 400


@pytest.mark.parametrize("limit", ["0", "101", "abc", "1,2"])
def test_a_bad_limit_is_named(client: Client, limit: str) -> None:
    answer = client.get("/v1/tokens", query={"limit": limit})
    assert (answer.status, answer.fields()) == (422, ["limit"])


@pytest.mark.parametrize("path", ["/v1/tokens", "/v1/models"])
@pytest.mark.parametrize("cursor", ["nonsense", "!", "YzE6", "äö"])
def test_a_bad_cursor_is_named(client: Client, path: str, cursor: str) -> None:
    answer = client.get(path, query={"cursor": cursor})
    assert (answer.status, answer.fields()) == (422, ["cursor"])


def test_an_unknown_query_parameter_is_refused(client: Client) -> None:
    answer = client.get("/v1/tokens", query={"colour": "blue", "limit": 5})
    assert (answer.status, answer.fields()) == (422, ["colour"])
    assert "limit, cursor" in answer.json()["detail"]


def test_an_operation_without_query_parameters_accepts_none(client: Client) -> None:
    answer = client.get("/v1/health", query={"limit": 5})
    assert (answer.status, answer.json()["detail"]) == (
        422,
        "limit: is not a query parameter of getHealth; it accepts none",
    )


@pytest.mark.parametrize("path", ["/v1/providers", "/v1/queue", "/v1/queue/dead-letters"])
def test_every_list_takes_limit_and_cursor(client: Client, path: str) -> None:
    answer = client.get(path, query={"limit": 1})
    assert (answer.status, len(answer.json()["items"]) <= 1) == (200, True)
    if cursor := answer.json()["nextCursor"]:
        rest = client.get(path, query={"limit": 100, "cursor": cursor}).json()["items"]
        assert answer.json()["items"][0] not in rest


def test_an_endless_path_is_not_found(client: Client) -> None:
    assert client.get("/v1/runs/" + "x" * 5_000).status == 404


@pytest.mark.parametrize(("value", "status"), [("secret", 200), ("other", 403), (None, 403)])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_with_an_edge_every_request_needs_its_secret_header(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, method: str, value: str | None, status: int
) -> None:
    monkeypatch.setenv("EDGE_SECRET_SHA256", hashlib.sha256(b"secret").hexdigest())
    settings.cache_clear()
    headers = {"x-cupel-edge": value} if value else {}
    assert call(event(method, "/v1/health", headers)).status == (
        204 if (method, status) == ("OPTIONS", 200) else status
    )
