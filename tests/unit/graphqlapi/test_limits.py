"""Hostile and malformed requests are refused before anything is read, and quickly."""

import json
from time import process_time
from typing import Any

import pytest

from cupel_core.interfaces.graphql import limits
from cupel_core.store import clients
from tests.unit.graphqlapi.conftest import GraphqlClient

_MAX_SECONDS = 1.0
"""Of processor time; each of these takes about a tenth."""


def deep(levels: int) -> str:
    return "{ runs { id " + "definition { runs { id " * levels + "} } " * levels + "} }"


def introspected(levels: int) -> str:
    return "{ __schema { types { name " + "fields { type { name " * levels + "} } " * levels + "} } }"


def doubling(count: int) -> str:
    """Each fragment spreads the next one twice."""
    fragments = (f"fragment f{n} on Run {{ ...f{n + 1} ... {{ ...f{n + 1} }} }}" for n in range(count))
    return f"{{ runs {{ ...f0 }} }} {' '.join(fragments)} fragment f{count} on Run {{ transcripts {{ id }} }}"


TOO_COMPLEX = {
    "depth": deep(8),
    "brackets": "{" * 500,
    "lists in variables": "query ($a: " + "[" * 500 + "Int" + "]" * 500 + ") { me { role } }",
    "tokens": "{ runs { " + "id " * 3_000 + "} }",
    "comments and commas": "{ runs { id } } #" + "x" * 70_000,
    "aliases": "{ " + " ".join(f"a{n}: me {{ role }}" for n in range(40)) + " }",
    "cost": "{ runs(limit: 100) { transcripts(limit: 100) { id } } }",
    "cost by variables": "query ($n: Int = 100) { runs(limit: $n) { transcripts(limit: $n) { id } } }",
    "cost in fragments": doubling(30),
    "the schema as deep": '{ __type(name: "Run") { ' + "ofType { " * 20 + "name" + " }" * 20 + " } }",
    "the schema ten times": "{ " + " ".join(f"a{n}: __schema {{ types {{ name }} }}" for n in range(12)) + " }",
    "no operation": "fragment f on Run { id }",
}
INVALID = {
    "several operations without a choice": "query A { me { role } } query B { me { role } }",
    "the schema within the schema": introspected(3),
    "cycle": "{ runs { ...a } } fragment a on Run { ...b } fragment b on Run { ...a }",
    "syntax": "{ runs { id",
    "unknown field": "{ runs { secret } }",
    "unknown argument": '{ runs(workspace: "other") { id } }',
    "wrong variable": "query ($id: String) { run(id: $id) { id } }",
    "missing variable": "query ($id: ID!) { run(id: $id) { id } }",
    "subscription": "subscription { runs { id } }",
    "empty": "",
    "many errors": "{ runs { " + " ".join(f"x{n}" for n in range(900)) + " } }",
}


@pytest.fixture
def offline(client: GraphqlClient, monkeypatch: pytest.MonkeyPatch) -> GraphqlClient:
    """Of which a request that reads anything fails."""
    client.data("{ runs { id } }")
    token = {"workspace": "acme", "role": "admin", "tokenId": "tok_1"}
    monkeypatch.setattr("tests.unit.graphqlapi.conftest.authorizer.handler", lambda *_: {"context": token})
    monkeypatch.setattr(clients, "dynamodb", None)
    return client


@pytest.mark.parametrize("query", TOO_COMPLEX.values(), ids=TOO_COMPLEX)
def test_a_query_that_asks_for_too_much_is_refused(offline: GraphqlClient, query: str) -> None:
    started_at = process_time()
    answer = offline.send(json.dumps({"query": query}))
    assert process_time() - started_at < _MAX_SECONDS
    assert answer.status == 400
    (error,) = answer.json()["errors"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("QUERY_TOO_COMPLEX", 400)
    assert "data" not in answer.json()


@pytest.mark.parametrize("query", INVALID.values(), ids=INVALID)
def test_an_invalid_query_is_refused(offline: GraphqlClient, query: str) -> None:
    started_at = process_time()
    answer = offline.send(json.dumps({"query": query}))
    assert process_time() - started_at < _MAX_SECONDS
    assert answer.status == 400
    assert {each["extensions"]["code"] for each in answer.json()["errors"]} == {"INVALID_QUERY"}
    assert len(answer.json()["errors"]) <= 21


def test_a_body_of_10_mb_is_refused(offline: GraphqlClient) -> None:
    answer = offline.send(json.dumps({"query": "{ me { role } }", "variables": {"x": "y" * 10_000_000}}))
    assert (answer.status, answer.headers["Content-Type"]) == (413, "application/problem+json")


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 400), ("nope", 400), ("[]", 422), ('{"query": 3}', 422), ('[{"query": "{me{role}}"}]', 422)],
)
def test_a_body_that_is_no_graphql_request_is_refused(offline: GraphqlClient, body: str, status: int) -> None:
    assert offline.send(body).status == status


def test_deeply_nested_variables_are_refused(offline: GraphqlClient) -> None:
    query = "query ($id: ID!) { run(id: $id) { id } }"
    body = json.dumps({"query": query})[:-1] + ', "variables": {"id": ' + "[" * 5_000 + "]" * 5_000 + "}}"
    assert offline.send(body).status == 400


def test_persisted_queries_are_refused_so_that_clients_send_the_query(offline: GraphqlClient) -> None:
    answer = offline.send(json.dumps({"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "x"}}}))
    (error,) = answer.json()["errors"]
    assert (error["message"], error["extensions"]["code"]) == (
        "PersistedQueryNotSupported",
        "PERSISTED_QUERY_NOT_SUPPORTED",
    )


def test_an_answer_of_more_than_5_mb_is_refused(client: GraphqlClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cupel_core.interfaces.graphql.execution.MAX_RESPONSE_BYTES", 10)
    assert client.error("{ me { role } }")["extensions"]["code"] == "CONTENT_TOO_LARGE"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ("limit: 0", "limit"),
        ("limit: -1", "limit"),
        ("limit: 101", "limit"),
        ("limit: null", "limit"),
        ("offset: -1", "offset"),
        ("offset: 1001", "offset"),
        ('name: ""', "name"),
    ],
)
def test_arguments_out_of_range_name_the_field(client: GraphqlClient, arguments: str, field: str) -> None:
    problem = client.error(f"{{ runs({arguments}) {{ id }} }}")["extensions"]
    assert (problem["code"], [each["field"] for each in problem["errors"]]) == ("INVALID_REQUEST", [field])


def test_a_cursor_of_another_list_is_refused(client: GraphqlClient) -> None:
    problem = client.error('{ runsConnection(after: "x") { nodes { id } } }')["extensions"]
    assert (problem["code"], problem["status"]) == ("INVALID_REQUEST", 422)


def test_costs_grow_with_the_limits_around_a_field() -> None:
    from graphql import OperationDefinitionNode, parse

    from cupel_core.interfaces.graphql.schema import schema

    def check(query: str, **variables: Any) -> None:
        parsed = parse(query)
        (operation,) = (each for each in parsed.definitions if isinstance(each, OperationDefinitionNode))
        limits.check_operation(schema(), parsed, operation, variables)

    check("{ runs(limit: 100) { definition { tags } analysis { basicStats } transcripts(limit: 5) { id } } }")
    with pytest.raises(limits.TooComplex, match="costs 5,"):
        check("query ($n: Int) { runs(limit: 100) { transcripts(limit: $n) { id } } }", n=10)
