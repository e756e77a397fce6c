import re
import tomllib
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from cupel_core import contract
from cupel_core.contract.common import RequestModel
from cupel_core.contract.service import VERSION
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces import openapi_file, schema_examples
from cupel_core.interfaces.http.operations import query_names
from cupel_core.interfaces.index import INDEX
from cupel_core.interfaces.openapi import TAGS, document
from tests.conftest import ROOT
from tests.operations import OPERATIONS
from tests.unit.api.client import Client, call, event
from tools.openapi_changes import resolve

METHODS = ("get", "post", "put", "patch", "delete")
HOST = {"Host": "api.example.com"}
SERVERS = [{"url": "https://api.example.com"}]
MAX_BYTES_PER_OPERATION = 2_400
"""The document has at most this many bytes per operation as it is served, before compression."""


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    return document()


@pytest.fixture(scope="module")
def resolved(generated: dict[str, Any]) -> dict[str, Any]:
    return resolve(generated)


@pytest.fixture(scope="module")
def schemas(resolved: dict[str, Any]) -> dict[str, Any]:
    schemas: dict[str, Any] = resolved["components"]["schemas"]
    return schemas


def operations(generated: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, item[method])
        for path, item in generated["paths"].items()
        for method in METHODS
        if method in item
    ]


def request_schemas(generated: dict[str, Any]) -> dict[str, str]:
    """The name of the request's schema by operation id."""
    return {
        operation["operationId"]: re.findall(
            r"#/components/schemas/(\w+)", str(operation["requestBody"]["content"]["application/json"]["schema"])
        )[0]
        for _, _, operation in operations(generated)
        if "requestBody" in operation
    }


def test_the_committed_document_is_that_of_the_app(generated: dict[str, Any]) -> None:
    committed = orjson.loads((ROOT / "docs/openapi.json").read_bytes())
    assert committed == generated, "python -m cupel_core.interfaces.openapi > docs/openapi.json"


def test_the_document_is_valid_openapi(generated: dict[str, Any]) -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(generated).iter_errors()] == []


def test_the_document_is_served_without_token(client: Client, generated: dict[str, Any]) -> None:
    client.token = None
    served = client.get("/v1/openapi.json", headers=HOST)
    assert served.json() == {**generated, "servers": SERVERS}
    assert len(served.content) <= MAX_BYTES_PER_OPERATION * len(INDEX)


def test_the_document_of_a_local_stack_names_the_path_of_its_api(client: Client) -> None:
    asked = event("GET", "/v1/openapi.json", HOST, query={"tags": "service"})
    asked["requestContext"] |= {"domainName": "cupel.execute-api.localhost", "apiId": "cupel", "stage": "$default"}
    assert client.token
    servers = call(asked).json()["servers"]
    assert servers == [{"url": "http://api.example.com/_aws/execute-api/cupel/$default"}]


def test_a_part_has_the_operations_of_its_tags_and_what_they_refer_to(
    client: Client, generated: dict[str, Any]
) -> None:
    part = client.get("/v1/openapi.json", query={"tags": "personas,webhook"}).json()
    assert [str(error) for error in OpenAPIV31SpecValidator(part).iter_errors()] == []
    assert [each["name"] for each in part["tags"]] == ["personas", "webhook"]
    expected = [
        operation["operationId"]
        for _, _, operation in operations(generated)
        if not {"personas", "webhook"}.isdisjoint(operation["tags"])
    ]
    assert [operation["operationId"] for _, _, operation in operations(part)] == expected
    references = set(re.findall(r'"#/components/(\w+)/([^"]+)"', orjson.dumps(part).decode()))
    components = {(kind, name) for kind, each in part["components"].items() for name in each}
    assert components == references | {("securitySchemes", "token")}


def test_the_part_of_all_tags_is_the_document(generated: dict[str, Any]) -> None:
    part = openapi_file.read_part(frozenset(TAGS))
    assert part["paths"] == generated["paths"]
    assert part["components"] == generated["components"]


def test_an_unknown_tag_is_refused_with_the_accepted_ones(client: Client) -> None:
    refused = client.get("/v1/openapi.json", query={"tags": "runs,rnus"})
    assert (refused.status, refused.fields()) == (422, ["tags"])
    assert "'rnus'; the tags are definitions, scenarios," in refused.json()["detail"]


def test_the_number_of_cached_parts_is_bounded() -> None:
    for tag in TAGS:
        openapi_file.read_part(frozenset({tag}))
    assert openapi_file.read_part.cache_info().currsize < len(TAGS)


def test_responses_with_an_entity_tag_declare_it(resolved: dict[str, Any]) -> None:
    declaring = {
        operation["operationId"]
        for _, _, operation in operations(resolved)
        if any("ETag" in one.get("headers", ()) for status, one in operation["responses"].items() if status < "300")
    }
    returning = {each.id for each in OPERATIONS.values() if "Tagged[" in str(each.types["return"])}
    revalidated = {each.id for each in OPERATIONS.values() if "Revalidated[" in str(each.types["return"])}
    assert declaring == returning | revalidated
    assert revalidated == {
        operation["operationId"]
        for _, _, operation in operations(resolved)
        if any(each["name"] == "If-None-Match" for each in operation.get("parameters", ()))
        and "304" in operation["responses"]
    }


def test_operations_say_whether_a_client_may_repeat_them(generated: dict[str, Any]) -> None:
    repeatable = {one["operationId"] for _, _, one in operations(generated) if one.get("x-repeatable") is True}
    assert repeatable == {each.id for each in OPERATIONS.values() if each.is_repeatable}
    assert {"createComparison", "estimateRun", "pauseRun"} <= repeatable
    assert not any(OPERATIONS[each].replay for each in repeatable)
    assert "`x-repeatable: true`" in generated["info"]["description"]


def test_every_operation_has_its_texts_and_its_problems(resolved: dict[str, Any]) -> None:
    for path, method, operation in operations(resolved):
        assert operation["summary"], (path, method)
        assert set(operation["tags"]) <= set(TAGS), (path, method)
        assert all(response["description"] != "Successful Response" for response in operation["responses"].values())
        refusals = {status: one for status, one in operation["responses"].items() if not status < "400"}
        assert "default" in refusals, (path, method)
        assert all("application/problem+json" in one["content"] for one in refusals.values()), (path, method)


def test_every_declared_query_parameter_is_accepted_and_no_other(resolved: dict[str, Any]) -> None:
    documented = {
        operation["operationId"]: tuple(one["name"] for one in operation.get("parameters", []) if one["in"] == "query")
        for _, _, operation in operations(resolved)
    }
    assert documented == {name: query_names(each) for name, each in OPERATIONS.items()}


def test_every_operation_that_creates_something_documents_its_location(resolved: dict[str, Any]) -> None:
    creating = {
        operation["operationId"]: responses
        for _, _, operation in operations(resolved)
        if (responses := [one for status, one in operation["responses"].items() if status in ("201", "202")])
    }
    without = [
        name for name, responses in creating.items() if not all("Location" in one["headers"] for one in responses)
    ]
    assert without == []


def test_every_parameter_is_described(resolved: dict[str, Any]) -> None:
    parameters = [(path, one) for path, _, operation in operations(resolved) for one in operation.get("parameters", [])]
    assert [(path, one["name"]) for path, one in parameters if not one.get("description")] == []
    assert [(path, one["name"]) for path, one in parameters if "null" in str(one["schema"])] == []


def test_every_property_is_described(schemas: dict[str, Any]) -> None:
    undescribed = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if not described.get("description")
    ]
    assert undescribed == []


def test_every_description_of_a_common_field_is_used(schemas: dict[str, Any]) -> None:
    used = {
        (field, described.get("description"))
        for schema in schemas.values()
        for field, described in schema.get("properties", {}).items()
    }
    common = {(name, doc.description) for name, doc in schema_examples.common_fields().items() if doc.description}
    assert common - used == set()


def test_every_property_has_an_example_that_is_valid(schemas: dict[str, Any]) -> None:
    made = schema_examples.SchemaExamples(schemas)
    invalid = [
        f"{name}.{field}: {found}"
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if not (found := [*made.absent(name, field), made.of_field(name, field)])
        or any(
            not Draft202012Validator({**described, "components": {"schemas": schemas}}).is_valid(example)
            for example in found
        )
    ]
    assert invalid == []


def test_every_property_shows_its_example_unless_its_type_or_another_one_does(schemas: dict[str, Any]) -> None:
    made = schema_examples.SchemaExamples(schemas)
    without = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if not (described.get("examples") or made.is_evident(name, field) or made.is_repeated(name, field))
    ]
    assert without == []


def test_every_example_is_used(schemas: dict[str, Any]) -> None:
    made = schema_examples.SchemaExamples(schemas)
    shown = {
        (name, field): made.of_field(name, field)
        for name, schema in schemas.items()
        for field in schema.get("properties", ())
    }
    by_name = [(field, example) for (_, field), example in shown.items()]
    common = [(name, doc.example) for name, doc in schema_examples.common_fields().items() if doc.example is not None]
    documented = schema_examples.documented_fields().items()
    own = [(field, doc.example) for (schema, field), doc in documented if doc.example is not None and schema in schemas]
    assert [item for item in (*common, *own) if item not in by_name] == []
    assert schema_examples.ABSENT - dict(by_name).keys() == set()


def test_only_health_the_document_and_signing_in_need_no_token(generated: dict[str, Any]) -> None:
    public = {path for path, _, operation in operations(generated) if operation.get("security") == []}
    assert public == {"/v1/health", "/v1/openapi.json", "/v1/login-codes/redeem"}
    assert generated["security"] == [{"token": []}]


def test_starting_a_run_documents_its_idempotency_key(resolved: dict[str, Any]) -> None:
    parameters = resolved["paths"]["/v1/runs"]["post"]["parameters"]
    assert [(one["name"], one["in"], one["required"]) for one in parameters] == [("Idempotency-Key", "header", False)]


def test_a_stream_continues_after_the_last_event_id(resolved: dict[str, Any]) -> None:
    parameters = resolved["paths"]["/v1/runs/{run_id}/events"]["get"]["parameters"]
    assert [one["name"] for one in parameters] == ["run_id", "ticket", "after", "Last-Event-ID"]


def test_operation_ids_are_unique_camel_case(generated: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(generated)]
    assert len(ids) == len(set(ids))
    assert [one for one in ids if not re.fullmatch(r"[a-z][A-Za-z0-9]+", one)] == []


def test_schemas_are_named_after_the_thing(schemas: dict[str, Any]) -> None:
    assert [name for name in schemas if name.endswith(("Answer", "Response")) or "__" in name or "-" in name] == []
    # Client generators name classes after the title of a schema that has one.
    assert [name for name, schema in schemas.items() if schema.get("title", name) != name] == []


def test_a_request_is_named_after_its_operation(generated: dict[str, Any]) -> None:
    named = request_schemas(generated)
    assert named == {operation_id: operation_id[0].upper() + operation_id[1:] for operation_id in named}


def test_every_request_has_an_example_that_is_valid(generated: dict[str, Any], schemas: dict[str, Any]) -> None:
    for name in request_schemas(generated).values():
        validator = Draft202012Validator({**schemas[name], "components": {"schemas": schemas}})
        examples = schemas[name]["examples"]
        assert examples, name
        assert [str(error) for example in examples for error in validator.iter_errors(example)] == [], name


def test_every_example_is_a_request_that_its_model_accepts() -> None:
    modules = [import_module(f"{contract.__name__}.{one.name}") for one in iter_modules(contract.__path__)]
    models = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, RequestModel) and "examples" in str(value.model_config)
    }
    assert len(models) >= 30
    for model in models:
        extra = model.model_config["json_schema_extra"]
        assert isinstance(extra, dict)
        for body in extra["examples"]:  # type: ignore[union-attr]
            model.model_validate(body)


def test_times_are_date_times(schemas: dict[str, Any]) -> None:
    times = [
        field
        for schema in schemas.values()
        for name, field in schema.get("properties", {}).items()
        if name.endswith("At")
    ]
    assert times
    assert all(one["format"] == "date-time" for one in times)


def test_operations_name_the_least_role_above_the_viewer(generated: dict[str, Any]) -> None:
    named = {one["operationId"]: one.get("x-role") for _, _, one in operations(generated)}
    expected = {each.id: each.minimum_role for each in OPERATIONS.values()}
    assert named == {name: None if role is AccessRole.VIEWER else role for name, role in expected.items()}


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
