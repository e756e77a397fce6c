import tomllib
from typing import Any

import orjson
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app import app
from api.routes.health import VERSION
from api.routes.openapi import document
from tests.conftest import ROOT
from tests.unit.api.client import Client

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return document(app)


def operations(told: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, item[method]) for path, item in told["paths"].items() for method in METHODS if method in item
    ]


def test_the_committed_document_is_that_of_the_app(told: dict[str, Any]) -> None:
    committed = orjson.loads((ROOT / "docs/openapi.json").read_bytes())
    assert committed == told, "PYTHONPATH=functions python -m api.routes.openapi > docs/openapi.json"


def test_the_document_is_valid_openapi(told: dict[str, Any]) -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(told).iter_errors()] == []


def test_the_document_is_served_without_token(client: Client, told: dict[str, Any]) -> None:
    client.token = None
    assert client.get("/v1/openapi.json").json() == told


def test_every_operation_has_a_summary_a_tag_and_its_problems(told: dict[str, Any]) -> None:
    for path, method, operation in operations(told):
        assert operation["summary"], (path, method)
        assert operation["tags"], (path, method)
        refusals = [answer for status, answer in operation["responses"].items() if int(status) >= 400]
        assert refusals, (path, method)
        assert all("application/problem+json" in answer["content"] for answer in refusals), (path, method)


def test_only_health_and_the_document_need_no_token(told: dict[str, Any]) -> None:
    public = {path for path, _, operation in operations(told) if operation.get("security") == []}
    assert public == {"/v1/health", "/v1/openapi.json"}
    assert told["security"] == [{"token": []}]


def test_starting_a_run_documents_its_idempotency_key(told: dict[str, Any]) -> None:
    parameters = told["paths"]["/v1/runs"]["post"]["parameters"]
    assert [(one["name"], one["in"], one["required"]) for one in parameters] == [("Idempotency-Key", "header", False)]


def test_operation_ids_are_unique(told: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(told)]
    assert len(ids) == len(set(ids))


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
