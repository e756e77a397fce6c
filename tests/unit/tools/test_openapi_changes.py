"""Two OpenAPI documents are compared once their references are resolved."""

from typing import Any

from tools.openapi_changes import explain, group, resolve

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}


def document(parameter: dict[str, Any], **components: Any) -> dict[str, Any]:
    return {"paths": {"/v1/runs": {"get": {"parameters": [parameter]}}}, "components": components}


SHARED = document({"$ref": "#/components/parameters/limit"}, parameters={"limit": LIMIT})


def test_a_shared_parameter_equals_one_in_its_place() -> None:
    assert resolve(SHARED) == document(LIMIT)
    assert group(document(LIMIT), SHARED) == {}


def test_references_to_schemas_stay() -> None:
    parameter = {**LIMIT, "schema": {"$ref": "#/components/schemas/Limit"}}
    assert resolve(document(parameter, schemas={})) == document(parameter, schemas={})


def test_a_difference_is_named_after_the_parameter() -> None:
    changed = document({**LIMIT, "schema": {"type": "string"}})
    place = "paths//v1/runs/get/parameters/query limit/schema/type"
    assert group(SHARED, changed) == {"paths/*/*/parameters/query limit/schema/type changed": [place]}


def test_a_difference_without_an_explanation_has_none() -> None:
    assert explain("paths/*/*/responses/200 removed") is None
    assert explain("paths/*/*/x-repeatable added") == "a client may repeat the request without an Idempotency-Key"
