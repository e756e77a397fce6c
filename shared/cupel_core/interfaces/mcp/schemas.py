"""Makes JSON schemas of operations: of their arguments in short and in full, and of the fields of their results.

They are made for the list of tools, which is generated, and for a model that asks for one operation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import Operation, Ranged
from cupel_core.interfaces.mcp.arguments import KEY, body_names, parameters_model
from cupel_core.interfaces.mcp.exceptions import LEFT_OUT_FIELDS, LEFT_OUT_RESULTS
from cupel_core.interfaces.mcp.models import UntitledSchema
from cupel_core.interfaces.mcp.selection import Fields

type JsonSchema = dict[str, Any]

_KEY_SCHEMA = {
    "type": "string",
    "maxLength": 255,
    "description": "A repeated call with the same key creates nothing more",
}
_SHORT = ("type", "enum", "const")
_RANGE = ("minimum", "maximum")
_LARGE = 10_000
"""Higher limits of numbers are left out of a short schema."""
_MAX_DESCRIPTION = 110
_MAX_NAMES = 12
_MAX_DEPTH = 6


def full_arguments(operation: Operation) -> JsonSchema:
    """Return the whole schema of an operation's arguments; nested objects have separate definitions."""
    schema = _merged(operation)
    left_out = {path for path in LEFT_OUT_FIELDS.get(operation.id, {}) if "." in path}
    if left_out:
        schema["description"] = f"Not among the arguments: {', '.join(sorted(left_out))}"
    return schema


def short_arguments(operation: Operation) -> JsonSchema:
    """Return the arguments without definitions, patterns and long descriptions, which `call_operation` describes."""
    schema = _merged(operation)
    definitions = schema.pop("$defs", {})
    schema["properties"] = {name: _short(each, definitions) for name, each in schema["properties"].items()}
    return schema


def _merged(operation: Operation) -> JsonSchema:
    parameters = _schema_of(parameters_model(operation), "validation")
    properties = dict(parameters.get("properties", {}))
    required, definitions = list(parameters.get("required", [])), dict(parameters.get("$defs", {}))
    if operation.body is not None:
        body = _schema_of(operation.body, "validation")
        names = {alias: name for name, alias in body_names(operation).items()}
        own = body.get("properties", {})
        properties |= {name: own[alias] for alias, name in names.items() if alias in own}
        required += [names[alias] for alias in body.get("required", []) if alias in names]
        definitions |= body.get("$defs", {})
    if operation.replay:
        properties[KEY] = dict(_KEY_SCHEMA)
    schema: JsonSchema = {"type": "object", "properties": {n: _without_null(p) for n, p in properties.items()}}
    schema["additionalProperties"] = False
    if required:
        schema["required"] = required
    if definitions:
        schema["$defs"] = definitions
    return schema


def _schema_of(model: Any, mode: Any) -> JsonSchema:
    schema = TypeAdapter(model).json_schema(by_alias=True, mode=mode, schema_generator=UntitledSchema)
    for each in (schema, *schema.get("$defs", {}).values()):
        each.pop("title", None)
        each.pop("examples", None)
    return schema


def _without_null(schema: JsonSchema) -> JsonSchema:
    """Remove null from the types of optional arguments, unless null has a meaning."""
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        schema = {**kinds[0], **{name: each for name, each in schema.items() if name != "anyOf"}}
    if "default" in schema and (schema["default"] is None or isinstance(schema["default"], dict | list)):
        schema = {name: each for name, each in schema.items() if name != "default"}
    return schema


def _short(schema: JsonSchema, definitions: Mapping[str, JsonSchema]) -> JsonSchema:
    described = schema.get("description", "")
    schema, names = _resolved(_without_null(_resolved(schema, definitions)), definitions), []
    short = {name: each for name, each in schema.items() if name in _SHORT}
    short |= {name: schema[name] for name in _RANGE if name in schema and schema.get("maximum", _LARGE) < _LARGE}
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [_resolved(each, definitions) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
        types = list(dict.fromkeys(each["type"] for each in kinds if isinstance(each.get("type"), str)))
        short["type"] = types[0] if len(types) == 1 else types
        names = [name for each in kinds for name in each.get("properties", {})]
    if schema.get("type") == "array":
        item = _resolved(schema.get("items", {}), definitions)
        short["items"] = {name: item[name] for name in ("type", "enum") if name in item}
        names = list(item.get("properties", {}))
    names = names or list(schema.get("properties", {}))
    default = schema.get("default")
    if default is not None and default != "" and not isinstance(default, dict | list):
        short["default"] = default
    text = _sentence(described)
    if names:
        listed = ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
        text = f"{text} {{{listed}}}".strip()
    return {**short, **({"description": text} if text else {})}


def _resolved(schema: JsonSchema, definitions: Mapping[str, JsonSchema]) -> JsonSchema:
    for _ in range(_MAX_DEPTH):
        if "$ref" not in schema:
            break
        found = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**found, **{name: each for name, each in schema.items() if name != "$ref"}}
    return schema


def _sentence(text: str) -> str:
    """Return the beginning of a description, up to a mark if it is long."""
    if len(text) <= _MAX_DESCRIPTION:
        return text
    ends = [position for mark in (". ", "; ", ": ") if (position := text.find(mark, 20, _MAX_DESCRIPTION)) > 0]
    return text[: min(ends)] if ends else text[: text.rfind(" ", 0, _MAX_DESCRIPTION)] + " …"


def response_schema(operation: Operation) -> JsonSchema:
    """Return the schema of the response as models receive it. Its fields are absent where they are null."""
    model = operation.response
    if not (isinstance(model, type) and issubclass(model, ResponseModel)):
        return {"type": "object"}
    schema = _schema_of(model, "serialization")
    left_out = LEFT_OUT_RESULTS.get(operation.id, {})
    return {**schema, "properties": {n: each for n, each in schema["properties"].items() if n not in left_out}}


def result_schema(operation: Operation, fields: Fields, *, is_untrusted: bool) -> JsonSchema:
    """Return the schema of a tool's result: the selected fields, none of which is required, since null ones are
    absent."""
    schema = response_schema(operation)
    definitions = schema.pop("$defs", {})
    own: dict[str, Any] = {
        "truncated": {"const": True},
        "cut": {"type": "array", "items": {"type": "string"}},
        **({"notice": {"type": "string"}} if is_untrusted else {}),
    }
    if operation.response is None:
        return {"type": "object", "properties": {"done": {"const": True}, **own}}
    properties = schema.get("properties", {})
    if operation.is_list or set(properties) <= {"items", "nextCursor", "nextIndex"}:
        item = _resolved(properties.get("items", {}), definitions).get("items", {})
        shown: JsonSchema = {"items": {"type": "array", "items": _selected(item, fields, definitions, 0)}}
        shown |= {"nextCursor": {"type": "string"}, "nextIndex": {"type": "integer"}}
    else:
        shown = _selected(schema, fields, definitions, 0).get("properties", {})
    return {"type": "object", "properties": {**shown, **own}}


def _selected(schema: JsonSchema, fields: Fields, definitions: Mapping[str, JsonSchema], depth: int) -> JsonSchema:
    schema = _resolved(_without_null(_resolved(schema, definitions)), definitions)
    if depth > _MAX_DEPTH:
        return {}
    if schema.get("type") == "array":
        return {"type": "array", "items": _selected(schema.get("items", {}), fields, definitions, depth + 1)}
    if properties := schema.get("properties"):
        shown = {
            name: _selected(each, fields.get(name, {}), definitions, depth + 1)
            for name, each in properties.items()
            if not fields or name in fields
        }
        return {"type": "object", "properties": shown}
    return {name: schema[name] for name in ("type", "enum", "const", "description") if name in schema}


def field_paths(operation: Operation, depth: int = _MAX_DEPTH) -> list[str]:
    """Return the fields of an operation's result as `path: type`; those of items for a list.

    Fields of objects are listed down to this depth.
    """
    schema = response_schema(operation)
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    if operation.is_list or operation.types["return"] is Ranged:
        schema = _resolved(properties.get("items", {}), definitions).get("items", {})
    return list(_paths(schema, "", definitions, (), depth=depth))


def _paths(
    schema: JsonSchema, path: str, definitions: Mapping[str, JsonSchema], above: tuple[str | None, ...], *, depth: int
) -> Iterator[str]:
    schema = _without_null(schema)
    reference = schema.get("$ref")
    schema = _resolved(schema, definitions)
    if schema.get("type") == "array":
        items = schema.get("items", {})
        if "$ref" in items or "anyOf" in items:
            yield from _paths(items, path, definitions, above, depth=depth)
            return
        yield f"{path}: list of {items.get('type', 'values')}"
        return
    properties = schema.get("properties")
    contains_itself = reference is not None and reference in above
    if not properties or contains_itself or len(above) >= depth:
        yield f"{path}: {schema.get('type', 'any')}"
        return
    for name, each in properties.items():
        inner = f"{path}.{name}" if path else name
        yield from _paths(each, inner, definitions, (*above, reference), depth=depth)
