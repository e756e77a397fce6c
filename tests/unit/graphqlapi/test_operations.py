"""Fields of Query and Mutation are derived from operations, and every operation is part of the schema."""

import inspect
from typing import Any

import pytest
from graphql import GraphQLNonNull, GraphQLObjectType

from cupel_core.base.clock import utc_now
from cupel_core.contract.routes import Route
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.graphql.registry import find_resolver
from cupel_core.interfaces.graphql.resolvers import FIELDS
from cupel_core.interfaces.graphql.root_fields import OTHER_FIELDS, OVERRIDES, ROOT_FIELDS, WITHOUT_FIELD, RootField
from cupel_core.interfaces.graphql.schema import schema
from cupel_core.interfaces.index import INDEX
from cupel_core.interfaces.routes import ROUTES, load
from cupel_core.store import audit_log
from tests.in_one_test import in_one_test
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import completed_run

ROUTES_OF_CUPEL = [each for each in INDEX if not each.is_of_openai]
_READ_BY_POSITION = {"limit", "cursor"}
"""GraphQL's arguments for a part of a list have names of their own."""
_HEADERS = {"last_event_id", "_ticket"}


@in_one_test("route", ROUTES_OF_CUPEL, ids=lambda route: route.id)
def test_every_operation_has_a_field_or_a_reason_for_none(route: Route) -> None:
    derived = [each for each in ROOT_FIELDS.values() if each.route.id == route.id]
    elsewhere = [table for table in (OTHER_FIELDS, WITHOUT_FIELD) if route.id in table]
    assert bool(derived) + len(elsewhere) == 1
    for field in derived:
        parent = schema().type_map[field.parent]
        assert isinstance(parent, GraphQLObjectType)
        assert field.name in parent.fields


def test_reasons_are_sentences_about_operations() -> None:
    assert set(WITHOUT_FIELD) <= set(ROUTES)
    assert all(each.endswith(".") and len(each.split()) > 3 for each in WITHOUT_FIELD.values())


def test_overrides_are_of_operations_with_a_derived_field() -> None:
    assert set(OVERRIDES) <= {each.route.id for each in ROOT_FIELDS.values()}


@in_one_test("operation_id", OTHER_FIELDS)
def test_the_field_of_an_operation_without_a_derived_one_is_resolved_for_it(operation_id: str) -> None:
    field = OTHER_FIELDS[operation_id]
    assert field in {each for fields in FIELDS.values() for each in fields}
    found = find_resolver(field)
    assert found is not None
    assert found.operation.id == operation_id


@in_one_test("field", ROOT_FIELDS.values(), ids=ROOT_FIELDS)
def test_arguments_are_those_of_the_operation(field: RootField) -> None:
    """Published arguments that replace the derived ones are read by a function of their own."""
    if field.override.arguments:
        return
    operation = load(field.route)
    declared = _declared(field)
    names = {field.parameters.get(name, name) for name in declared}
    for parameter in operation.arguments:
        if parameter.name in _READ_BY_POSITION | _HEADERS:
            continue
        if parameter.name == "body" and field.override.is_flat:
            assert set(operation.types["body"].model_fields) <= {_snake(each) for each in names}
            continue
        assert parameter.name in {_snake(each) for each in names}
        if parameter.default is inspect.Parameter.empty and not field.override.is_input_optional:
            (argument,) = (each for each in declared if _snake(field.parameters.get(each, each)) == parameter.name)
            assert isinstance(declared[argument].type, GraphQLNonNull)


def _declared(field: RootField) -> dict[str, Any]:
    parent = schema().type_map[field.parent]
    assert isinstance(parent, GraphQLObjectType)
    return dict(parent.fields[field.name].args)


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def test_a_parameter_out_of_range_is_named_as_the_argument_is(client: GraphqlClient) -> None:
    run = completed_run()
    query = 'query ($id: ID!) { probeMatches(runId: $id, q: "", firstIndex: -1) { indexes } }'
    problems = [client.error(query, {"id": run.id})]
    query = 'query ($id: ID!) { probeMatches(runId: $id, q: "x", firstIndex: -1) { indexes } }'
    problems.append(client.error(query, {"id": run.id}))
    assert [each["extensions"]["errors"][0]["field"] for each in problems] == ["q", "firstIndex"]


def test_a_field_of_a_flat_body_is_named_as_the_argument_is(client: GraphqlClient) -> None:
    definition_id = client.post("/v1/definitions", {"name": "d", "content": {"template": "x"}}).json()["id"]
    query = 'mutation ($id: ID!) { forkDefinition(parentId: $id, name: "f", changes: {unknown: 1}) { id } }'
    (error,) = client.error(query, {"id": definition_id})["extensions"]["errors"]
    assert error["field"] == "changes.unknown"


def test_filters_of_rest_are_arguments(client: GraphqlClient) -> None:
    first, second = (completed_run().id for _ in range(2))
    listed = client.get("/v1/runs", query={"sort": "createdAt"}).json()["items"]
    found = client.data('{ runs(sort: "createdAt") { id } }')["runs"]
    assert [each["id"] for each in found] == [each["id"] for each in listed]
    assert {first, second} == {each["id"] for each in found}
    later = client.data('{ runs(createdAfter: "2999-01-01T00:00:00Z") { id } }')
    assert later == {"runs": []}
    assert client.error('{ runs(sort: "name") { id } }')["extensions"]["errors"][0]["field"] == "sort"


def test_a_document_that_is_json_already_is_read_like_any_other(client: GraphqlClient) -> None:
    run = completed_run()
    query = (
        "query ($id: ID!) { runResults(id: $id) { status columns { targetId } } caseNames(runId: $id) { nextIndex } }"
    )
    rest = client.get(f"/v1/runs/{run.id}/results").json()
    found = client.data(query, {"id": run.id})
    assert found["runResults"]["status"] == rest["status"]
    assert found["runResults"]["columns"] == [{"targetId": each["targetId"]} for each in rest["columns"]]
    assert found["caseNames"] == {"nextIndex": None}


def test_the_ids_of_what_was_deleted_together_are_recorded(client: GraphqlClient) -> None:
    run = completed_run()
    query = "mutation ($ids: [String!]!) { deleteRuns(input: {ids: $ids}) { items { id deleted } } }"
    found = client.data(query, {"ids": [run.id, "run_x"]})["deleteRuns"]["items"]
    assert [each["deleted"] for each in found] == [True, False]
    (record, *_) = audit_log.list_records("acme", 1, None, utc_now(), None, None).items
    assert (record.operation, record.status, record.deleted_ids) == ("deleteRuns", 200, (run.id,))


def test_a_secret_is_in_the_response_and_nowhere_else(client: GraphqlClient) -> None:
    made = client.data('mutation { createToken(input: {name: "ci", role: "viewer"}) { id token role } }')["createToken"]
    assert client.data("{ session { role } }", token=made["token"]) == {"session": {"role": "viewer"}}
    assert "token" not in client.data("{ tokens { id name } }")["tokens"][0]
    (record, *_) = audit_log.list_records("acme", 1, None, utc_now(), None, None).items
    assert record.path == f"/v1/tokens/{made['id']}"
    assert client.data("mutation ($id: ID!) { revokeToken(id: $id) }", {"id": made["id"]}) == {"revokeToken": True}
    assert client.send('{"query": "{ session { role } }"}', token=made["token"]).status == 401


def test_members_and_admins_may_call_what_their_roles_permit(client: GraphqlClient) -> None:
    member = client.issue(role=AccessRole.MEMBER)
    query = 'mutation { readDecisions(input: {pattern: "([1-5])", answers: ["4", "none"]}) { items { code } } }'
    assert [each["code"] for each in client.data(query, token=member)["readDecisions"]["items"]] == ["4", None]
    assert client.error("{ tokens { id } }", token=member)["extensions"]["code"] == "FORBIDDEN"


def test_an_object_without_a_path_parameter_may_not_exist(client: GraphqlClient) -> None:
    assert client.data("{ webhook { url } }") == {"webhook": None}
    client.data('mutation { setWebhook(input: {url: "https://hooks.example.com"}) { secret } }')
    assert client.data("{ webhook { url } }") == {"webhook": {"url": "https://hooks.example.com"}}


def aliased(count: int, field: str) -> str:
    return "".join(f"a{number}: {field} " for number in range(count))


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        (aliased(11, 'runResults(id: "run_1") { status }'), "5,500"),
        ("probes(limit: 100) { id } runs(limit: 100) { transcripts(limit: 10) { id } }", "5,710"),
        (aliased(20, "runs(limit: 100, offset: 1000) { definition { id } }"), "5,100"),
        (aliased(10, f'probeExcerpts(runId: "run_1", indexes: {[*range(100)]}) {{ items {{ index }} }}'), "5,050"),
        (aliased(26, 'caseNames(runId: "run_1") { nextIndex }'), "5,200"),
        (aliased(26, 'probeColumns(runId: "run_1", block: 0) { runId }'), "5,200"),
    ],
    ids=["counted outcomes", "items", "offsets", "named items", "cases", "columns"],
)
def test_derived_fields_have_costs(client: GraphqlClient, fields: str, cost: str) -> None:
    problem = client.error(f"{{ {fields} }}")
    assert problem["extensions"]["code"] == "QUERY_TOO_COMPLEX"
    assert f"the query costs {cost}; the maximum is 5,000" in problem["message"]


def test_items_that_variables_name_have_costs(client: GraphqlClient) -> None:
    fields = aliased(30, 'probeExcerpts(runId: "run_1", indexes: $indexes) { items { index } }')
    query = f"query ($indexes: [Int!]!) {{ {fields} }}"
    assert "the query costs 15,150" in client.error(query, {"indexes": [*range(100)]})["message"]
    assert set(client.data(query, {"indexes": [1]}).values()) == {None}


@in_one_test("field", ROOT_FIELDS.values(), ids=ROOT_FIELDS)
def test_only_lists_that_are_read_in_parts_take_a_limit(field: RootField) -> None:
    names = set(_declared(field))
    is_page = load(field.route).is_list and not field.override.is_connection
    own = {each.name for each in load(field.route).arguments} - ({"limit"} if load(field.route).is_list else set())
    assert ({"limit", "offset"} & names) - own == ({"limit", "offset"} if is_page else set())


def test_a_key_that_a_mutation_would_ignore_is_refused(client: GraphqlClient) -> None:
    query = 'mutation { createToken(input: {name: "ci", role: "viewer"}) { id } }'
    known = client.data("{ tokens { id } }")
    problem = client.error(query, headers={"Idempotency-Key": "once"})["extensions"]
    (error,) = problem["errors"]
    assert (problem["code"], error["field"]) == ("INVALID_REQUEST", "Idempotency-Key")
    assert "createToken" in error["message"]
    assert client.data("{ tokens { id } }", headers={"Idempotency-Key": "once"}) == known


def test_a_dry_run_is_recorded_with_the_path_of_its_request(client: GraphqlClient) -> None:
    dataset = '{content: "input,ideal\\nhi,ho\\n", name: "csv", dryRun: true}'
    client.data(f'mutation {{ importDataset(format: "csv", input: {dataset}) {{ definitions {{ id }} }} }}')
    (record, *_) = audit_log.list_records("acme", 1, None, utc_now(), None, None).items
    assert (record.operation, record.path) == ("importDataset", "/v1/imports/csv")
