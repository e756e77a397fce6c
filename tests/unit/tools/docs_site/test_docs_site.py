"""The reference pages of the documentation site, made from the code."""

import json
import re

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT
from tests.in_one_test import in_one_test
from tools.docs_site import api_reference, command_reference
from tools.openapi_changes import resolve

DOCUMENT = json.loads((ROOT / "docs/openapi.json").read_text())
RESOLVED = resolve(DOCUMENT)
SCHEMAS = RESOLVED["components"]["schemas"]


@pytest.fixture(scope="module")
def api_page() -> str:
    return api_reference.page(DOCUMENT)


def test_every_operation_has_a_section(api_page: str) -> None:
    operations = {f"`{method.upper()} {path}`" for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert operations <= set(api_page.splitlines())


def test_every_linked_schema_has_a_section(api_page: str) -> None:
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", api_page, re.MULTILINE)}
    assert set(re.findall(r"\(#(\w+)\)", api_page)) <= headings


def test_every_request_and_response_in_json_has_an_example(api_page: str) -> None:
    bodies = [
        schema
        for methods in RESOLVED["paths"].values()
        for operation in methods.values()
        for holder in (operation.get("requestBody", {}), *operation["responses"].values())
        for kind, schema in holder.get("content", {}).items()
        if kind == "application/json"
    ]
    assert sum(line.startswith('??? example "Example of a re') for line in api_page.splitlines()) == len(bodies) - 1
    # The OpenAPI document has no schema.


@in_one_test("name", [name for name, schema in SCHEMAS.items() if "properties" in schema])
def test_the_example_of_a_schema_is_valid_and_complete(name: str) -> None:
    schema = {**SCHEMAS[name], "components": {"schemas": SCHEMAS}}
    example = api_reference.example_of({"$ref": name}, SCHEMAS)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(example)] == []
    assert "examples" in SCHEMAS[name] or example.keys() == SCHEMAS[name]["properties"].keys()


def test_an_example_is_a_collapsed_block() -> None:
    schema = {"properties": {"name": {"type": "string", "examples": ["Ada"]}}}
    page = api_reference.page({"tags": [], "components": {"schemas": {"Thing": schema}}})
    block = page[page.index("???") :]
    assert block == '??? example "Example"\n\n    ```json\n    {\n      "name": "Ada"\n    }\n    ```\n'


def test_limits_of_a_property_are_shown() -> None:
    name = {"type": ["string", "null"], "minLength": 1, "maxLength": 200, "description": "Its name"}
    schema = {"properties": {"name": name, "size": {"type": "integer", "minimum": 1.0, "maximum": 1_000_000}}}
    document = {"tags": [], "components": {"schemas": {"Thing": schema | {"required": ["name"]}}}}
    page = api_reference.page(document)
    assert "| `name` | string (1 to 200 characters) or null | yes | Its name |" in page
    assert "| `size` | integer (1 to 1,000,000) |  |  |" in page


def test_every_command_has_a_section() -> None:
    page = command_reference.page()
    assert "## `cupel run`" in page
    assert "### `cupel queue pause`" in page
