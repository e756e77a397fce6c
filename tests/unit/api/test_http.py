"""What every operation has in common over HTTP: HEAD, OPTIONS, gzip and request ids."""

import json
import string
from random import Random

import pytest

from cupel_core.interfaces.gateway.compression import MIN_BYTES, accepts_gzip
from tests.operations import OPERATIONS
from tests.unit.api.client import Client

GZIP = {"Accept-Encoding": "gzip"}


@pytest.mark.parametrize("path", ["/v1/health", "/v1/openapi.json", "/v1/settings", "/v1/runs/run_none", "/v1/nothing"])
@pytest.mark.parametrize("headers", [{}, GZIP], ids=["plain", "gzip"])
def test_head_has_the_status_and_headers_of_get_and_no_body(client: Client, path: str, headers: dict[str, str]) -> None:
    head, get = (client.request(method, path, headers=headers) for method in ("HEAD", "GET"))
    assert (head.status, head.headers, head.text) == (get.status, get.headers, "")


def test_head_requires_what_get_requires(client: Client) -> None:
    assert client.request("HEAD", "/v1/providers", token="cupel_unknown").status == 401


def test_head_is_refused_where_there_is_no_get(client: Client) -> None:
    assert client.request("HEAD", "/v1/playground/runs").status == 405


def test_options_lists_the_methods_of_the_path(client: Client) -> None:
    client.token = None
    assert client.request("OPTIONS", "/v1/runs").headers["Allow"] == "GET, HEAD, OPTIONS, POST"
    assert client.request("OPTIONS", "/v1/playground/runs").headers["Allow"] == "OPTIONS, POST"
    assert client.request("OPTIONS", "/v1/nothing").headers["Allow"] == "OPTIONS"


def test_a_large_response_is_compressed_for_a_client_that_accepts_it(client: Client) -> None:
    compressed, plain = (client.get("/v1/openapi.json", headers=headers) for headers in (GZIP, {}))
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert compressed.json() == plain.json()
    assert compressed.sent_length < plain.sent_length / 3


def test_a_small_response_is_not_compressed(client: Client) -> None:
    answer = client.get("/v1/health", headers=GZIP)
    assert len(answer.text) < MIN_BYTES
    assert "Content-Encoding" not in answer.headers


def test_a_compressed_response_is_never_larger_than_the_plain_one(client: Client) -> None:
    """Base64 adds a third, so text that barely shrinks is sent as it is: Lambda's limit holds for what it sends."""
    random_text = "".join(
        Random(1).choices(string.ascii_letters + string.digits + "!#$%&()*+,-./:;<=>?@[]^_{|}~", k=2_000)
    )
    body = {"name": "random", "content": {"template": random_text}}
    location = client.post("/v1/definitions", body).headers["Location"]
    answer = client.get(location, headers=GZIP)
    assert len(answer.text) > MIN_BYTES
    assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize(
    "header", ["gzip", "GZIP", "br, gzip;q=0.5", "*", "deflate, gzip;q=1.0, *;q=0.5", "x-gzip", "gzip; q=0.1"]
)
def test_a_client_accepts_gzip(header: str) -> None:
    assert accepts_gzip(header)


@pytest.mark.parametrize("header", ["", "identity", "br", "gzip;q=0", "*;q=0", "gzip;q=", "gzip;q=0, *", "gzip;x"])
def test_a_client_does_not_accept_gzip(header: str) -> None:
    assert not accepts_gzip(header)


def test_a_compressed_request_is_refused(client: Client) -> None:
    answer = client.post("/v1/tokens", body="\x1f\x8b", headers={"Content-Encoding": "gzip"})
    assert (answer.status, answer.headers["Accept-Encoding"]) == (415, "identity")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/runs/run_none", 404),
        ("DELETE", "/v1/runs", 405),
        ("POST", "/v1/runs", 422),
        ("GET", "/v1/runs?", 404),
    ],
)
def test_every_problem_has_the_id_of_its_request(client: Client, method: str, path: str, status: int) -> None:
    answer = client.request(method, path, json={})
    assert (answer.status, json.loads(answer.text)["requestId"]) == (status, "request-1")


def test_every_operation_that_creates_has_a_location() -> None:
    creating = [one for one in OPERATIONS.values() if one.id.startswith(("create", "import", "fork", "generateScen"))]
    assert len(creating) >= 14
    # Announcing a file again changes nothing, so it is answered with 200. A login code cannot be read, only redeemed.
    assert [one.id for one in creating if one.location is None] == ["createFile", "createLoginCode"]
