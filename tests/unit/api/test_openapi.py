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
from cupel_core.interfaces import descriptions, examples
from cupel_core.interfaces.http.operations import query_names
from cupel_core.interfaces.openapi import TAGS, document
from tests.conftest import ROOT
from tests.operations import OPERATIONS
from tests.unit.api.client import Client

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    return document()


@pytest.fixture(scope="module")
def schemas(generated: dict[str, Any]) -> dict[str, Any]:
    schemas: dict[str, Any] = generated["components"]["schemas"]
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
    assert client.get("/v1/openapi.json").json() == generated


def test_every_operation_has_its_texts_and_its_problems(generated: dict[str, Any]) -> None:
    for path, method, operation in operations(generated):
        assert operation["summary"], (path, method)
        assert operation["description"], (path, method)
        assert set(operation["tags"]) <= set(TAGS), (path, method)
        assert all(response["description"] != "Successful Response" for response in operation["responses"].values())
        refusals = {status: one for status, one in operation["responses"].items() if int(status) >= 400}
        assert refusals, (path, method)
        refusals.pop("429", None)  # by API Gateway, whose responses are no problem documents
        assert all("application/problem+json" in one["content"] for one in refusals.values()), (path, method)


def test_every_declared_query_parameter_is_accepted_and_no_other(generated: dict[str, Any]) -> None:
    documented = {
        operation["operationId"]: tuple(one["name"] for one in operation.get("parameters", []) if one["in"] == "query")
        for _, _, operation in operations(generated)
    }
    assert documented == {name: query_names(each) for name, each in OPERATIONS.items()}


def test_every_operation_that_creates_something_documents_its_location(generated: dict[str, Any]) -> None:
    creating = {
        operation["operationId"]: responses
        for _, _, operation in operations(generated)
        if (responses := [one for status, one in operation["responses"].items() if status in ("201", "202")])
    }
    without = [
        name for name, responses in creating.items() if not all("Location" in one["headers"] for one in responses)
    ]
    assert without == []


def test_every_parameter_is_described(generated: dict[str, Any]) -> None:
    parameters = [
        (path, one) for path, _, operation in operations(generated) for one in operation.get("parameters", [])
    ]
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


def test_every_description_is_used(schemas: dict[str, Any]) -> None:
    used = {
        (name, field, described.get("description"))
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
    }
    by_name = {(field, text) for _, field, text in used}
    by_schema = {(f"{name}.{field}", text) for name, field, text in used}
    assert descriptions.BY_NAME.items() - by_name == set()
    assert descriptions.BY_SCHEMA.items() - by_schema == set()


def test_every_property_has_an_example_that_is_valid(schemas: dict[str, Any]) -> None:
    invalid = [
        f"{name}.{field}: {described.get('examples')}"
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if not described.get("examples")
        or any(
            not Draft202012Validator({**described, "components": {"schemas": schemas}}).is_valid(example)
            for example in described["examples"]
        )
    ]
    assert invalid == [], "examples are in cupel_core/interfaces/examples.py"


def test_every_listed_example_is_used(schemas: dict[str, Any]) -> None:
    by_name, by_schema = [], []
    for name, schema in schemas.items():
        for field, described in schema.get("properties", {}).items():
            by_name.append((field, described["examples"][0]))
            by_schema.append((f"{name}.{field}", described["examples"][0]))
    assert [item for item in examples.BY_NAME.items() if item not in by_name] == []
    assert [item for item in examples.BY_SCHEMA.items() if item not in by_schema] == []
    assert examples.ABSENT - dict(by_name).keys() == set()


def test_only_health_the_document_and_signing_in_need_no_token(generated: dict[str, Any]) -> None:
    public = {path for path, _, operation in operations(generated) if operation.get("security") == []}
    assert public == {"/v1/health", "/v1/openapi.json", "/v1/login-codes/redeem"}
    assert generated["security"] == [{"token": []}]


def test_starting_a_run_documents_its_idempotency_key(generated: dict[str, Any]) -> None:
    parameters = generated["paths"]["/v1/runs"]["post"]["parameters"]
    assert [(one["name"], one["in"], one["required"]) for one in parameters] == [("Idempotency-Key", "header", False)]


def test_a_stream_continues_after_the_last_event_id(generated: dict[str, Any]) -> None:
    parameters = generated["paths"]["/v1/runs/{run_id}/events"]["get"]["parameters"]
    assert [one["name"] for one in parameters] == ["run_id", "ticket", "after", "Last-Event-ID"]


def test_operation_ids_are_unique_camel_case(generated: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(generated)]
    assert len(ids) == len(set(ids))
    assert [one for one in ids if not re.fullmatch(r"[a-z][A-Za-z0-9]+", one)] == []


def test_schemas_are_named_after_the_thing(schemas: dict[str, Any]) -> None:
    assert [name for name in schemas if name.endswith(("Answer", "Response")) or "__" in name or "-" in name] == []
    # Client generators name classes after the title.
    assert [name for name, schema in schemas.items() if schema.get("title") != name] == []


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
        choice
        for schema in schemas.values()
        for name, field in schema.get("properties", {}).items()
        if name.endswith("At")
        for choice in field.get("anyOf", [field])
    ]
    assert times
    assert all(one in ({"type": "null"},) or one["format"] == "date-time" for one in times)


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
