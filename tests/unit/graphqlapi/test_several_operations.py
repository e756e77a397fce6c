"""A document may have several operations: `operationName` says which one is executed, and only that one counts."""

import json
from typing import Any

from tests.unit.api.client import Answer
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import completed_run

SHARED = """query Names($id: String!) { run(id: $id) { ...parts } }
  query Lists($n: Int!) { runs(limit: $n) { ...parts status } }
  mutation Label($id: ID!, $name: String!) { updateRun(id: $id, input: {name: $name}) { ...parts } }
  fragment parts on Run { id ...labels }
  fragment labels on Run { name }"""


def send(client: GraphqlClient, query: str, name: str | None, variables: dict[str, Any] | None = None) -> Answer:
    body = {"query": query, "operationName": name, "variables": variables}
    return client.send(json.dumps(body))


def message(answer: Answer) -> str:
    assert answer.status == 400
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "INVALID_QUERY"
    return str(error["message"])


def test_the_named_operation_is_executed_with_the_fragments_that_others_share(client: GraphqlClient) -> None:
    run_id = completed_run().id
    labelled = send(client, SHARED, "Label", {"id": run_id, "name": "n"}).json()
    assert labelled == {"data": {"updateRun": {"id": run_id, "name": "n"}}}
    assert send(client, SHARED, "Names", {"id": run_id}).json() == {"data": {"run": {"id": run_id, "name": "n"}}}
    listed = [{"id": run_id, "name": "n", "status": "COMPLETED"}]
    assert send(client, SHARED, "Lists", {"n": 5}).json() == {"data": {"runs": listed}}


def test_without_a_name_the_error_names_the_operations(client: GraphqlClient) -> None:
    for name in (None, ""):
        found = message(send(client, SHARED, name, {"id": "run_1"}))
        assert found == "name one of the query's operations as `operationName`: it has Names, Lists, Label"


def test_an_unknown_name_is_refused_with_those_that_exist(client: GraphqlClient) -> None:
    found = message(send(client, SHARED, "Other"))
    assert found == "the query has no operation Other; it has Names, Lists, Label"
    assert message(send(client, "{ me { role } }", "Other")).endswith("it has one without a name")


def test_an_operation_without_a_name_must_be_the_only_one(client: GraphqlClient) -> None:
    mixed = "{ me { role } } query A { me { role } }"
    assert "anonymous operation must be the only" in message(send(client, mixed, "A"))
    assert message(send(client, mixed, None)).endswith("it has A")


def test_only_the_named_operation_counts_for_limits(client: GraphqlClient) -> None:
    large = "query Large { runs(limit: 100) { transcripts(limit: 100) { id } } } query Small { me { role } }"
    assert send(client, large, "Small").json() == {"data": {"me": {"role": "admin"}}}
    (error,) = send(client, large, "Large").json()["errors"]
    assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX"


def test_other_operations_are_valid_as_well(client: GraphqlClient) -> None:
    found = message(send(client, "query A { me { role } } query B { me { nothing } }", "A"))
    assert "nothing" in found


def test_a_variable_gets_the_type_that_its_own_operation_expects(client: GraphqlClient) -> None:
    run_id = completed_run().id
    query = """query A($x: String) { run(id: "run_1") { id } runs(name: $x) { id } }
      query B($x: String!) { run(id: $x) { id } }"""
    assert send(client, query, "B", {"x": run_id}).json() == {"data": {"run": {"id": run_id}}}
    assert send(client, query, "A", {"x": "none"}).json() == {"data": {"run": None, "runs": []}}
