"""Requests: who may send them, how they are answered, and how errors are told."""

import json
from typing import Any

import pytest

from api import app as api
from cupel_core.base.errors import AppError, RetryableError
from cupel_core.definitions import catalog
from cupel_core.interfaces.gateway.requests import EDGE_HEADER
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.unit.api.client import event
from tests.unit.graphqlapi.conftest import GraphqlClient, app, call

ROLE = json.dumps({"query": "{ me { role } }"})


def sample(name: str) -> Any:
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


@pytest.mark.parametrize(("name", "status"), [("graphqlapi-unauthorized", 401), ("graphqlapi-list-runs", 200)])
def test_a_sample_is_answered(client: GraphqlClient, name: str, status: int) -> None:
    assert app.handler(sample(name), Context())["statusCode"] == status


def test_without_a_token_the_answer_is_a_problem_document(client: GraphqlClient) -> None:
    answer = client.send(ROLE, token="cupel_unknown")
    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", "application/graphql-response+json"),
        ("*/*", "application/graphql-response+json"),
        ("application/graphql-response+json, application/json;q=0.9", "application/graphql-response+json"),
        ("application/json", "application/json"),
    ],
)
def test_the_content_type_is_what_the_client_accepts(client: GraphqlClient, accept: str, expected: str) -> None:
    answer = client.send(ROLE, headers={"Accept": accept})
    assert (answer.status, answer.headers["Content-Type"], answer.headers["Cache-Control"]) == (
        200,
        expected,
        "no-store",
    )


def test_other_content_types_are_refused(client: GraphqlClient) -> None:
    assert client.send("query={me{role}}", headers={"Content-Type": "multipart/form-data"}).status == 415


def test_the_schema_is_served_to_token_holders(client: GraphqlClient, viewer: str) -> None:
    asked = event("GET", "/v1/graphql/schema")
    assert call(asked).status == 401
    asked["requestContext"]["authorizer"] = {"lambda": {"workspace": "acme", "role": "viewer", "tokenId": "t"}}
    answer = call(asked)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert "type Run {" in answer.text
    names = client.data("{ __schema { types { name } } }", token=viewer)["__schema"]["types"]
    assert {"name": "Transcript"} in names


def test_the_introspection_of_common_clients_is_possible(client: GraphqlClient) -> None:
    from graphql import build_client_schema, get_introspection_query

    from cupel_core.interfaces.graphql.schema import printed, schema

    query = get_introspection_query(input_value_deprecation=True, directive_is_repeatable=True, schema_description=True)
    built = build_client_schema(client.data(query))  # type: ignore[arg-type]
    assert set(built.type_map) == set(schema().type_map)
    assert "Int = 20" in printed()


def test_pages_of_configured_origins_may_read_the_answer(
    client: GraphqlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cupel_core.store.settings import settings

    monkeypatch.setenv("ALLOWED_ORIGINS", "https://app.example.com")
    settings.cache_clear()
    answer = client.send(ROLE, headers={"Origin": "https://app.example.com"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert "Access-Control-Allow-Origin" not in client.send(ROLE, headers={"Origin": "https://evil.example"}).headers
    preflight = api.handler(event("OPTIONS", "/v1/graphql", {"Origin": "https://app.example.com"}), Context())
    assert (preflight["statusCode"], "POST" in preflight["headers"]["Access-Control-Allow-Methods"]) == (204, True)


def test_requests_that_evade_the_edge_are_refused(client: GraphqlClient, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    from cupel_core.store.settings import settings

    monkeypatch.setenv("EDGE_SECRET_SHA256", hashlib.sha256(b"secret").hexdigest())
    settings.cache_clear()
    assert client.send(ROLE).status == 403
    assert client.send(ROLE, headers={EDGE_HEADER: "secret"}).status == 200


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (RetryableError("later", 3), "TEMPORARILY_UNAVAILABLE", "later"),
        (AppError("the password is 1234"), "INTERNAL_ERROR", "internal error"),
        (ValueError("the password is 1234"), "INTERNAL_ERROR", "internal error"),
    ],
)
def test_an_error_of_a_field_leaves_the_others(
    client: GraphqlClient, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str, message: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(catalog, "get", fail)
    answer = client.execute('{ me { role } definition(id: "def_1") { id } }')
    assert answer["data"] == {"me": {"role": "admin"}, "definition": None}
    (told,) = answer["errors"]
    assert (told["message"], told["path"], told["extensions"]["code"]) == (message, ["definition"], code)
    assert told["extensions"]["requestId"] == "request-1"
    assert "1234" not in json.dumps(answer)


def test_an_operation_that_the_query_does_not_have_is_refused(client: GraphqlClient) -> None:
    body = {"query": "query A { me { role } }", "operationName": "B"}
    assert client.send(json.dumps(body)).status == 400
    assert client.send(json.dumps(body | {"operationName": "A"})).status == 200
    assert client.send(json.dumps(body | {"operationName": ""})).status == 200
