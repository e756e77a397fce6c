"""What is wrong with a JSON Schema, as far as it can be told without a validator; unknown keywords are let be."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cupel_core.domain.text.javascript_patterns import flaw

MAX_DEPTH = 20
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")

type Flaws = Iterator[str]


def flaws(schema: Any, where: str = "the schema", depth: int = MAX_DEPTH) -> Flaws:
    """Each in words that begin with where it is: `properties.age: …`."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping) or depth == 0:
        yield f"{where}: must be an object or a boolean" if depth else f"{where}: is nested too deeply"
        return
    for keyword, rule in _RULES.items():
        if keyword in schema and (why := rule(schema[keyword])):
            yield f"{where}: {keyword} {why}"
    for name, part in _parts(schema):
        yield from flaws(part, name if where == "the schema" else f"{where}.{name}", depth - 1)


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in _ONE:
        if keyword in schema and not (keyword == "items" and isinstance(schema[keyword], list)):
            yield keyword, schema[keyword]
    for keyword in _NAMED:
        named = schema.get(keyword)
        yield from ((f"{keyword}.{name}", part) for name, part in named.items()) if isinstance(named, Mapping) else ()
    for keyword in (*_MANY, "items"):
        many = schema.get(keyword)
        yield from ((f"{keyword}.{n}", part) for n, part in enumerate(many)) if isinstance(many, list) else ()


def _type(value: Any) -> str | None:
    named = value if isinstance(value, list) else [value]
    known = bool(named) and all(isinstance(name, str) and name in _TYPES for name in named)
    return None if known else f"must be one of {', '.join(sorted(_TYPES))}, or a list of them"


def _pattern(value: Any) -> str | None:
    return flaw(value) if isinstance(value, str) else "must be a regular expression"


def _reference(value: Any) -> str | None:
    return None if isinstance(value, str) and value.startswith("#") else "must stay within the schema: #/$defs/…"


def _patterns(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "must be an object"
    return next((f"has a pattern that {why}" for pattern in value if (why := flaw(pattern))), None)


def _must(what: str, holds: Callable[[Any], bool]) -> Callable[[Any], str | None]:
    return lambda value: None if holds(value) else f"must be {what}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_count = _must("a whole number from 0", lambda value: _is_number(value) and value >= 0 and float(value).is_integer())
_number = _must("a number", _is_number)
_object = _must("an object", lambda value: isinstance(value, Mapping))
_schemas = _must("a list of schemas", lambda value: isinstance(value, list) and bool(value))
_names = _must(
    "a list of names", lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value)
)

_RULES: dict[str, Callable[[Any], str | None]] = {
    "type": _type,
    "enum": _must("a list", lambda value: isinstance(value, list)),
    "required": _names,
    "pattern": _pattern,
    "patternProperties": _patterns,
    "$ref": _reference,
    "$dynamicRef": _reference,
    **dict.fromkeys(("properties", "$defs", "definitions"), _object),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _schemas),
    "multipleOf": _must("a number above 0", lambda value: _is_number(value) and value > 0),
}
