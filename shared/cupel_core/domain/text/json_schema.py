"""Checks a JSON Schema for errors, as far as possible without a validator; unknown keywords are ignored."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cupel_core.domain.text.finite_numbers import is_finite_number
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error, schema_flags

MAX_DEPTH = 20
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SINGLE_SCHEMA = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")


def schema_errors(schema: Any, where: str = "the schema", depth: int = MAX_DEPTH) -> Iterator[str]:
    """Yield the errors, each starting with its location: `properties.age: …`."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping) or depth == 0:
        yield f"{where}: must be an object or a boolean" if depth else f"{where}: is nested too deeply"
        return
    for keyword, rule in _RULES.items():
        if keyword in schema and (error := rule(schema[keyword])):
            yield f"{where}: {keyword} {error}"
    for name, part in _parts(schema):
        yield from schema_errors(part, name if where == "the schema" else f"{where}.{name}", depth - 1)


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in _SINGLE_SCHEMA:
        if keyword in schema and not (keyword == "items" and isinstance(schema[keyword], list)):
            yield keyword, schema[keyword]
    for keyword in _SCHEMAS_BY_NAME:
        named = schema.get(keyword)
        yield from ((f"{keyword}.{name}", part) for name, part in named.items()) if isinstance(named, Mapping) else ()
    for keyword in (*_SCHEMA_LISTS, "items"):
        many = schema.get(keyword)
        yield from ((f"{keyword}.{n}", part) for n, part in enumerate(many)) if isinstance(many, list) else ()


def _type(value: Any) -> str | None:
    named = value if isinstance(value, list) else [value]
    known = bool(named) and all(isinstance(name, str) and name in _TYPES for name in named)
    return None if known else f"must be one of {', '.join(sorted(_TYPES))}, or a list of them"


def _pattern(value: Any) -> str | None:
    if not isinstance(value, str):
        return "must be a regular expression"
    return javascript_pattern_error(value, schema_flags(value))


def _reference(value: Any) -> str | None:
    return (
        None if isinstance(value, str) and value.startswith("#") else "must be a reference within the schema: #/$defs/…"
    )


def _patterns(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "must be an object"
    return next((f"has a pattern that {error}" for pattern in value if (error := _pattern(pattern))), None)


def _must_be(what: str, is_valid: Callable[[Any], bool]) -> Callable[[Any], str | None]:
    return lambda value: None if is_valid(value) else f"must be {what}"


_count = _must_be(
    "an integer of at least 0", lambda value: is_finite_number(value) and value >= 0 and float(value).is_integer()
)
_number = _must_be("a number", is_finite_number)
_object = _must_be("an object", lambda value: isinstance(value, Mapping))
_schemas = _must_be("a list of schemas", lambda value: isinstance(value, list) and bool(value))
_names = _must_be(
    "a list of names", lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value)
)

_RULES: dict[str, Callable[[Any], str | None]] = {
    "type": _type,
    "enum": _must_be("a list", lambda value: isinstance(value, list)),
    "required": _names,
    "pattern": _pattern,
    "patternProperties": _patterns,
    "$ref": _reference,
    "$dynamicRef": _reference,
    **dict.fromkeys(("properties", "$defs", "definitions"), _object),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _schemas),
    "multipleOf": _must_be("a number above 0", lambda value: is_finite_number(value) and value > 0),
}
