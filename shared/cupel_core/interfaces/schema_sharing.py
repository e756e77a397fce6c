"""Writes repeated parts of the OpenAPI document's schemas once.

- `simplify` writes a type that may be null as one list of types.
- `extend` has a schema refer to the one that its model derives from, and list only the differences.
- `share_fields` makes a component of a field that several schemas have. Its name is that of the field, and begins with
  a small letter, unlike the names of models.

`tools.openapi_changes.resolve` does the opposite of the last two, for readers that expect whole schemas.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any

import orjson
from pydantic import BaseModel

from cupel_core.base.deferred_models import DeferredModel

type SchemaObject = dict[str, Any]

_NO_FIELDS = {"minProperties": 0}
"""The second part of a schema without further fields: generators take a single part for another name."""
ANNOTATIONS = ("description", "examples")
"""Keys that take precedence over the component's own where they are beside a reference to it."""
_VALUES = ("default", "examples", "enum", "const")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LIMITS = (*_BOUNDS, "minLength", "maxLength", "pattern", "minItems", "maxItems")
_MIN_SAVED_BYTES = 25


def schema_name(model: str) -> str:
    return model.removesuffix("Response")


def simplify(value: Any) -> Any:
    """Return a schema in which alternatives that differ only in their type are one list of types."""
    if isinstance(value, list):
        return [simplify(each) for each in value]
    if not isinstance(value, dict):
        return value
    schema = {name: each if name in _VALUES else simplify(each) for name, each in value.items()}
    for name in _BOUNDS:
        if isinstance(bound := schema.get(name), float) and bound.is_integer():
            schema[name] = int(bound)
    choices = schema.get("anyOf")
    if not isinstance(choices, list) or not all(isinstance(each.get("type"), str) for each in choices):
        return schema
    specific = [each for each in choices if each.keys() != {"type"}]
    if len(specific) > 1 or any("enum" in each or "const" in each for each in specific):
        return schema
    if specific and any(each["type"] != "null" for each in choices if each is not specific[0]):
        return schema
    types = [each["type"] for each in choices]
    outer = {name: each for name, each in schema.items() if name != "anyOf"}
    return {**(specific[0] if specific else {}), "type": types, **outer}


def extend(schemas: dict[str, SchemaObject]) -> None:
    """Replace inherited fields of schemas by references to the schemas of the bases."""
    models = _models_of(schemas)
    whole = schemas | _bases(schemas, models)
    extended = {name: _extension(whole, name, model) for name, model in models.items()}
    bases = {
        part["$ref"].rpartition("/")[2]
        for each in extended.values()
        for part in each.get("allOf", ())
        if "$ref" in part
    }
    for name in sorted(schemas.keys() | bases):
        schemas[name] = extended.get(name, whole[name])


def _models_of(schemas: dict[str, SchemaObject]) -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for model in _derived(DeferredModel):
        schema = schemas.get(schema_name(model.__name__), {})
        aliases = {field.alias or name for name, field in model.model_fields.items()}
        if schema.get("properties", {}).keys() == aliases and aliases:
            found[schema_name(model.__name__)] = model
    return found


def _derived(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _derived(each)


def _bases(schemas: dict[str, SchemaObject], models: dict[str, type[BaseModel]]) -> dict[str, SchemaObject]:
    users = defaultdict[type[BaseModel], list[str]](list)
    for name, model in sorted(models.items()):
        for ancestor in model.__mro__[1:]:
            if issubclass(ancestor, BaseModel) and ancestor.model_fields and ancestor.__name__.isidentifier():
                users[ancestor].append(name)
    added: dict[str, SchemaObject] = {}
    for ancestor, names in users.items():
        name = schema_name(ancestor.__name__)
        if len(names) > 1 and name not in schemas and not name.startswith("_") and not _is_closed(schemas[names[0]]):
            aliases = [field.alias or each for each, field in ancestor.model_fields.items()]
            schema = schemas[names[0]]
            properties = {each: schema["properties"][each] for each in aliases}
            required = [each for each in aliases if each in schema.get("required", ())]
            added[name] = {"properties": properties, "type": "object", "required": required}
            models[name] = ancestor
    return added


def _extension(schemas: dict[str, SchemaObject], name: str, model: type[BaseModel]) -> SchemaObject:
    shortest = schema = schemas[name]
    chosen: list[str] = []
    for ancestor in (schema_name(each.__name__) for each in model.__mro__[1:]):
        if ancestor in schemas and ancestor != name and _is_base(schemas[ancestor], schema):
            extended = _extended(schemas, schema, [*chosen, ancestor])
            if _bytes_of(shortest) - _bytes_of(extended) >= _MIN_SAVED_BYTES:
                shortest = extended
                chosen.append(ancestor)
    return shortest


def _is_base(base: SchemaObject, schema: SchemaObject) -> bool:
    fields, inherited = schema["properties"], base["properties"]
    return (
        inherited.keys() <= fields.keys()
        and set(base.get("required", ())) <= set(schema.get("required", ()))
        and _is_closed(schema) == _is_closed(base)
        and (not _is_closed(base) or fields.keys() == inherited.keys())
        and ("examples" in schema or "examples" not in base)
        and all(_constraints(each) == _constraints(fields[field]) for field, each in inherited.items())
    )


def _extended(schemas: dict[str, SchemaObject], schema: SchemaObject, bases: list[str]) -> SchemaObject:
    inherited = {name: field for base in bases for name, field in schemas[base]["properties"].items()}
    required = {name for base in bases for name in schemas[base].get("required", ())}
    examples = [schemas[base].get("examples") for base in bases]
    own = {
        "properties": {name: field for name, field in schema["properties"].items() if inherited.get(name) != field},
        "required": [name for name in schema.get("required", ()) if name not in required],
    }
    rest = {name: each for name, each in own.items() if each}
    said = {name: schema[name] for name in ANNOTATIONS if name in schema and schema[name] not in examples}
    return {"allOf": [*map(_reference, bases), rest or _NO_FIELDS], **said}


def _is_closed(schema: SchemaObject) -> bool:
    return schema.get("additionalProperties") is False


def share_fields(schemas: dict[str, SchemaObject]) -> None:
    """Make components of fields that many schemas have, and replace the fields by references to them."""
    by_name = defaultdict[str, list[SchemaObject]](list)
    for schema in schemas.values():
        for part in (schema, *schema.get("allOf", ())):
            for name, field in part.get("properties", {}).items():
                by_name[name].append(field)
    for name, fields in sorted(by_name.items()):
        for number in count(1):
            component = name if number == 1 else f"{name}-{number}"
            left = [each for each in fields if "$ref" not in each]
            saved, shared = max(
                ((_saved(component, each, left), each) for each in left), key=lambda found: found[0], default=(0, {})
            )
            if saved < _MIN_SAVED_BYTES:
                break
            schemas[component] = dict(shared)
            for field in left:
                if shorter := _shorter(component, schemas[component], field):
                    field.clear()
                    field.update(shorter)


def _saved(name: str, shared: SchemaObject, fields: list[SchemaObject]) -> int:
    """Return by how many bytes the document becomes shorter if this field is a component."""
    shortened = ((each, _shorter(name, shared, each)) for each in fields)
    return sum(_bytes_of(each) - _bytes_of(found) for each, found in shortened if found) - _bytes_of({name: shared})


def _shorter(name: str, shared: SchemaObject, field: SchemaObject) -> SchemaObject | None:
    own = {each: value for each, value in field.items() if value != shared.get(each)}
    is_contrary = any(field.get(each) != value for each, value in shared.items() if each not in ANNOTATIONS)
    if is_contrary or "description" not in field or not own.keys() <= {*ANNOTATIONS, *_LIMITS}:
        return None
    found = _reference(name) | own
    return found if _bytes_of(found) < _bytes_of(field) else None


def _constraints(schema: SchemaObject) -> SchemaObject:
    return {name: each for name, each in schema.items() if name not in ANNOTATIONS}


def _reference(name: str) -> SchemaObject:
    return {"$ref": f"#/components/schemas/{name}"}


def _bytes_of(value: Any) -> int:
    return len(orjson.dumps(value))
