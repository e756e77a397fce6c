"""`client.graphql` and `cupel graphql`."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from cupel.client import Client
from cupel.errors import ApiProblem, GraphqlError, NotConnected
from tests.unit.cupel.fake_api import Cupel, FakeApi

QUERY = "query ($id: ID!) { run(id: $id) { status } }"
REFUSED = {"message": "there is no run run_x", "path": ["pauseRun"], "extensions": {"code": "NOT_FOUND", "status": 404}}
LOST = httpx.ConnectError("connection refused")


def answered(**content: Any) -> httpx.Response:
    return httpx.Response(200, json=content)


def sent(api: FakeApi) -> Any:
    request = api.requests[-1]
    assert (request.method, request.url.path) == ("POST", "/v1/graphql")
    return json.loads(request.content)


def test_a_query_returns_the_data(api: FakeApi, client: Client) -> None:
    api.refusals = [answered(data={"run": {"status": "RUNNING"}})]
    assert client.graphql(QUERY, {"id": "run_1"}) == {"run": {"status": "RUNNING"}}
    assert sent(api) == {"query": QUERY, "variables": {"id": "run_1"}}


def test_a_field_that_failed_is_an_error_with_the_rest_of_the_data(api: FakeApi, client: Client) -> None:
    api.refusals = [answered(data={"a": 1, "pauseRun": None}, errors=[REFUSED])]
    with pytest.raises(GraphqlError, match=r"^pauseRun: there is no run run_x$") as caught:
        client.graphql("{ a }")
    assert (caught.value.errors, caught.value.data) == ([REFUSED], {"a": 1, "pauseRun": None})
    assert caught.value.exit_code == 2


def test_an_internal_error_is_not_a_usage_error() -> None:
    assert GraphqlError([REFUSED, {"message": "internal error", "extensions": {"status": 500}}], None).exit_code == 1
    assert GraphqlError([{"message": "of some gateway"}], None).exit_code == 1


def test_refused_arguments_are_named(api: FakeApi, client: Client) -> None:
    extensions = {"status": 422, "errors": [{"field": "limit", "message": "must be from 1 to 100"}]}
    api.refusals = [httpx.Response(400, json={"errors": [{"message": "invalid", "extensions": extensions}]})]
    with pytest.raises(GraphqlError, match=r"^limit: must be from 1 to 100$"):
        client.graphql("{ runs(limit: 0) { id } }")


def test_a_problem_document_is_a_problem(api: FakeApi, client: Client) -> None:
    problem = {"title": "Invalid request", "errors": [{"field": "body", "message": "no"}]}
    api.refusals = [httpx.Response(422, json=problem)]
    with pytest.raises(ApiProblem, match="422 Invalid request"):
        client.graphql(QUERY)


def test_queries_are_repeated_when_the_network_fails(api: FakeApi, client: Client) -> None:
    api.refusals = [LOST, httpx.Response(503), answered(data={"me": {}})]
    assert client.graphql("{ me { role } }") == {"me": {}}


def test_mutations_are_not_repeated(api: FakeApi, client: Client) -> None:
    api.refusals = [LOST, answered(data={})]
    with pytest.raises(NotConnected):
        client.graphql('fragment f on Run { id }\nmutation { pauseRun(id: "run_1") { ...f } }')


def test_the_command_prints_the_data(api: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    variables = tmp_path / "variables.json"
    variables.write_text('{"id": "run_2"}')
    for given, expected in (('{"id": "run_1"}', "run_1"), (str(variables), "run_2")):
        api.refusals = [answered(data={"run": None})]
        result = cupel("graphql", QUERY, "--variables", given)
        assert (result.exit_code, json.loads(result.stdout)) == (0, {"run": None})
        assert sent(api)["variables"] == {"id": expected}


def test_the_command_reads_a_query_from_standard_input(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [answered(data={})]
    assert cupel("graphql", "-", stdin=QUERY).exit_code == 0
    assert sent(api)["query"] == QUERY


def test_the_command_prints_what_was_answered_and_fails(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [answered(data={"pauseRun": None}, errors=[REFUSED])]
    result = cupel("graphql", "mutation { pauseRun { id } }")
    assert (result.exit_code, json.loads(result.stdout)) == (2, {"pauseRun": None})
    assert "cupel: pauseRun: there is no run run_x" in result.stderr


def test_the_command_prints_the_schema(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [httpx.Response(200, text="type Query {\n  me: Viewer!\n}\n")]
    result = cupel("graphql", "--schema")
    assert (result.exit_code, result.stdout) == (0, "type Query {\n  me: Viewer!\n}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "specify either a query or --schema"),
        ((QUERY, "--schema"), "specify either a query or --schema"),
        ((QUERY, "--variables", "{"), "--variables: is not JSON"),
        ((QUERY, "--variables", "no-such-file.json"), "--variables: no-such-file.json: No such file"),
        ((QUERY, "--variables", "\0"), "--variables"),
    ],
)
def test_wrong_usage_is_named(cupel: Cupel, arguments: tuple[str, ...], message: str) -> None:
    result = cupel("graphql", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_variables_must_be_an_object(cupel: Cupel, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[]")
    result = cupel("graphql", QUERY, "--variables", str(tmp_path / "list.json"))
    assert (result.exit_code, "expected an object" in result.stderr) == (2, True)
