"""Derives the fields of Query and Mutation from operations for GraphQL's schema.

Their names come from cupel_core.interfaces.graphql.root_fields; their arguments, results and descriptions from
docs/openapi.json.
"""

import json
from collections.abc import Iterator
from typing import Any, Protocol

from cupel_core.interfaces.graphql.root_fields import ROOT_FIELDS, RootField
from cupel_core.interfaces.routes import load

_LIST = {"limit": "Int = 20", "offset": "Int = 0"}
_CONNECTION = {"first": "Int = 20", "after": "String"}
_PAGE = ("limit", "cursor")


class Types(Protocol):
    def kind(self, field: str, schema: dict[str, Any], *, is_input: bool, model: str = "") -> str: ...

    def model(self, name: str) -> dict[str, Any]: ...


def render(document: dict[str, Any], types: Types) -> str:
    roots = {"Query": "", "Mutation": ""}
    for field in ROOT_FIELDS.values():
        described = document["paths"][field.route.path][field.route.method.lower()]
        roots[field.parent] += _render(field, described, types)
    return "\n".join(f"extend type {root} {{\n{fields}}}\n" for root, fields in roots.items())


def _render(field: RootField, described: dict[str, Any], types: Types) -> str:
    arguments = field.override.arguments
    if arguments is None:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in _arguments(field, described, types))
    description = ". ".join(filter(None, (described["summary"], field.override.note)))
    called = f"{field.name}({arguments})" if arguments else field.name
    return f"  {json.dumps(description, ensure_ascii=False)}\n  {called}: {_result(field, described, types)}\n"


def _arguments(field: RootField, described: dict[str, Any], types: Types) -> Iterator[tuple[str, str]]:
    """Yield the names of the arguments, and their types with their defaults."""
    parameters = [each for each in described.get("parameters", ()) if each["in"] != "header"]
    is_list = _is_list(field)
    for each in parameters:
        if each["in"] == "path":
            name = field.path_arguments[each["name"]]
            yield name, f"{types.kind(each['name'].replace('_id', 'Id'), each['schema'], is_input=True)}!"
        elif not (is_list and each["name"] in _PAGE):
            yield _declared(field, each["name"], each["schema"], types, is_required=each["required"])
    yield from _body_arguments(field, described, types)
    if field.override.is_connection:
        yield from _CONNECTION.items()
    elif is_list:
        for name, kind in _LIST.items():
            own_default = field.override.defaults.get(name)
            yield name, f"Int = {own_default}" if own_default else kind


def _body_arguments(field: RootField, described: dict[str, Any], types: Types) -> Iterator[tuple[str, str]]:
    if "requestBody" not in described:
        return
    body = described["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    name = schema["$ref"].rpartition("/")[2]
    if not field.override.is_flat:
        kind = field.override.input_type or types.kind("input", schema, is_input=True)
        is_optional = field.override.is_input_optional or not body.get("required")
        yield "input", kind if is_optional else f"{kind}!"
        return
    model = types.model(name)
    for each, of_field in model["properties"].items():
        is_required = each in model.get("required", ()) and each not in field.override.defaults
        yield _declared(field, each, of_field, types, is_required=is_required, model=name)


def _declared(
    field: RootField, name: str, schema: dict[str, Any], types: Types, *, is_required: bool, model: str = ""
) -> tuple[str, str]:
    kind = types.kind(name, schema, is_input=True, model=model)
    default = schema.get("default")
    written = field.override.defaults.get(name) or (
        None if default in (None, [], {}) else _literal(default, kind, schema)
    )
    published = field.override.renamed.get(name, name)
    return published, f"{kind} = {written}" if written else f"{kind}{'!' if is_required else ''}"


def _literal(value: Any, kind: str, schema: dict[str, Any]) -> str:
    """Return a literal; values of enums are written without quotes."""
    is_enum = "$ref" in schema and kind != "String"
    return str(value) if is_enum else json.dumps(value, ensure_ascii=False)


def _is_list(field: RootField) -> bool:
    """Decide by the type that the function returns, as the resolver of the field does."""
    return load(field.route).is_list


def _result(field: RootField, described: dict[str, Any], types: Types) -> str:
    responses = {int(status): each for status, each in described["responses"].items() if status.startswith("2")}
    schemas = [each["content"]["application/json"]["schema"] for each in responses.values() if "content" in each]
    if not schemas:
        return field.override.result_type or "Boolean"
    schema = schemas[0]
    if _is_list(field):
        schema = types.model(schema["$ref"].rpartition("/")[2])["properties"]["items"]["items"]
    kind = field.override.result_type or types.kind("result", schema, is_input=False)
    if field.override.is_connection:
        return f"{kind if kind.endswith('Connection') else kind + 'Connection'}!"
    is_present = field.parent == "Query" and not field.may_be_absent
    whole = f"[{kind}!]" if _is_list(field) else kind
    return f"{whole}!" if is_present else whole
