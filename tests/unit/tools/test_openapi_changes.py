"""Two OpenAPI documents are compared once their references are resolved."""

from typing import Any

from tools.openapi_changes import explain, group, resolve

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}, "required": False}


def document(parameter: dict[str, Any], **components: Any) -> dict[str, Any]:
    return {"paths": {"/v1/runs": {"get": {"parameters": [parameter]}}}, "components": components}


SHARED = document({"$ref": "#/components/parameters/limit"}, parameters={"limit": LIMIT})


def test_a_shared_parameter_equals_one_in_its_place() -> None:
    assert resolve(SHARED) == document(LIMIT, schemas={})
    assert group(document(LIMIT), SHARED) == {}


def test_references_to_schemas_stay() -> None:
    parameter = {**LIMIT, "schema": {"$ref": "#/components/schemas/Limit"}}
    assert resolve(document(parameter, schemas={})) == document(parameter, schemas={})


def schemas(**found: dict[str, Any]) -> dict[str, Any]:
    resolved: dict[str, Any] = resolve({"components": {"schemas": found}})["components"]["schemas"]
    return resolved


ID = {"type": "string", "description": "Identifies it"}


def test_a_schema_has_the_fields_of_those_that_it_extends() -> None:
    base = {"type": "object", "properties": {"id": ID, "size": {}}, "required": ["id"], "description": "A summary"}
    own = {"properties": {"size": {"description": "In bytes"}, "text": {}}, "required": ["text"]}
    extension = {"allOf": [{"$ref": "#/components/schemas/Base"}, own], "description": "All of it"}
    assert schemas(Extension=extension, Base=base) == {
        "Extension": {
            "type": "object",
            "properties": {"id": ID, "size": {"description": "In bytes"}, "text": {}},
            "required": ["id", "text"],
            "description": "All of it",
        }
    }


def test_a_field_that_several_schemas_share_is_in_their_place_with_what_they_say_of_it() -> None:
    shared = {"$ref": "#/components/schemas/id"}
    whole = {"properties": {"id": {**shared, "description": "Identifies the run"}, "other": shared}}
    assert schemas(Run=whole, id=ID) == {
        "Run": {"properties": {"id": {**ID, "description": "Identifies the run"}, "other": ID}}
    }


def test_a_list_of_types_equals_alternatives_of_one_type_each() -> None:
    alternatives = {"anyOf": [{"type": "string", "maxLength": 9.0}, {"type": "null"}], "description": "A name"}
    types = {"type": ["string", "null"], "maxLength": 9, "description": "A name"}
    old, new = ({**document(LIMIT), "components": {"schemas": {"Run": each}}} for each in (alternatives, types))
    assert group(old, new) == {}


def test_a_difference_is_named_after_the_parameter() -> None:
    changed = document({**LIMIT, "schema": {"type": "string"}})
    place = "paths//v1/runs/get/parameters/query limit/schema/type"
    assert group(SHARED, changed) == {"paths/*/*/parameters/query limit/schema/type changed": [place]}


def test_a_difference_without_an_explanation_has_none() -> None:
    assert explain("paths/*/*/responses/200 removed") is None
    assert explain("paths/*/*/x-repeatable added") == "a client may repeat the request without an Idempotency-Key"
