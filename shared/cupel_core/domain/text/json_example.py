"""Generates a JSON value for a simple JSON Schema, for simulated models.

The value satisfies the schema if it can be satisfied within the limits below; users' schemas may have any size.
"""

import json
from collections.abc import Mapping
from random import Random

type Schema = Mapping[str, object]

_MAX_DEPTH = 8
_MAX_VALUES = 2_000
"""An example has at most this many objects and arrays; further ones are null."""
_MAX_NESTING = 32
"""Deeper values are null, because a schema that requires itself has no example."""
_MAX_TEXT_LENGTH = 10_000
_MAX_CHARACTERS = 50_000
"""Texts, constants and names of properties have at most this many characters together; values after these are null."""


def example_of(schema: Schema, rng: Random) -> object:
    """Support objects, arrays, strings, integers, numbers, booleans, enum, const, local `$ref`, the first of `anyOf`.

    Elements of an array take the values of an enum, or of an integer's range, in turn, so that together they cover it.
    """
    return _Example(schema, rng).value(schema)


class _Example:
    def __init__(self, root: Schema, rng: Random) -> None:
        self._root = root
        self._rng = rng
        self._values_left = _MAX_VALUES
        self._characters_left = _MAX_CHARACTERS

    def value(self, schema: Schema, name: str = "value", position: int | None = None, depth: int = 0) -> object:
        self._values_left -= 1
        if self._values_left < 0 or self._characters_left < 0 or depth > _MAX_NESTING:
            return None
        schema = self._resolve(schema)
        if "const" in schema:
            return self._constant(schema["const"])
        choices = schema.get("enum")
        if isinstance(choices, list) and choices:
            return self._constant(choices[self._pick(len(choices), position)])
        match _type_of(schema):
            case "object":
                return self._object(schema, position, depth)
            case "array":
                return self._array(schema, name, depth)
            case "integer":
                return self._integer(schema, position)
            case "number":
                return self._number(schema)
            case "boolean":
                return self._rng.random() < 0.5
            case "null":
                return None
        return self._text(schema, name, position)

    def _constant(self, value: object) -> object:
        self._characters_left -= len(json.dumps(value))
        return value

    def _text(self, schema: Schema, name: str, position: int | None) -> str:
        text = _text(schema, name, position, min(_MAX_TEXT_LENGTH, self._characters_left))
        self._characters_left -= len(text)
        return text

    def _resolve(self, schema: Schema) -> Schema:
        """Follow `#/$defs/Name` and take the first alternative."""
        for _ in range(_MAX_DEPTH):
            alternatives = schema.get("anyOf") or schema.get("oneOf")
            if isinstance(reference := schema.get("$ref"), str):
                target: object = self._root
                for step in reference.removeprefix("#/").split("/"):
                    target = target.get(step) if isinstance(target, Mapping) else {}
                schema = _schema(target)
            elif isinstance(alternatives, list) and alternatives:
                schema = _schema(alternatives[0])
            else:
                break
        return schema

    def _pick(self, count: int, position: int | None) -> int:
        return self._rng.randrange(count) if position is None else position % count

    def _object(self, schema: Schema, position: int | None, depth: int) -> dict[str, object]:
        properties = _schema(schema.get("properties"))
        required = schema.get("required")
        included = properties
        if depth >= _MAX_DEPTH and isinstance(required, list):
            included = {name: properties[name] for name in required if name in properties}
        self._characters_left -= sum(map(len, included))
        return {name: self.value(_schema(inner), name, position, depth + 1) for name, inner in included.items()}

    def _array(self, schema: Schema, name: str, depth: int) -> list[object]:
        min_items = schema.get("minItems")
        wanted = min_items if isinstance(min_items, int) else int(depth < _MAX_DEPTH)
        count = min(wanted, max(0, self._values_left))
        items = _schema(schema.get("items"))
        return [self.value(items, name, position, depth + 1) for position in range(count)]

    def _integer(self, schema: Schema, position: int | None) -> int:
        lowest, highest = _bounds(schema, step=1, default=(1, 5))
        return int(lowest) + self._pick(max(1, int(highest) - int(lowest) + 1), position)

    def _number(self, schema: Schema) -> float:
        lowest, highest = _bounds(schema, step=0, default=(0, 1))
        return round(self._rng.uniform(lowest, highest), 3)


def _schema(value: object) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _type_of(schema: Schema) -> object:
    declared = schema.get("type")
    if isinstance(declared, list):
        return next((name for name in declared if name != "null"), "null")
    return declared or ("object" if "properties" in schema else "string")


def _bounds(schema: Schema, step: int, default: tuple[float, float]) -> tuple[float, float]:
    """Return the inclusive range; a missing bound is as far from the other one as in the default range."""
    width = default[1] - default[0]
    lowest = _limit(schema, "minimum", step)
    highest = _limit(schema, "maximum", -step)
    if lowest is None and highest is None:
        return default
    if lowest is None:
        lowest = (highest or 0.0) - width
    return lowest, lowest + width if highest is None else highest


def _limit(schema: Schema, name: str, step: int) -> float | None:
    inclusive, exclusive = schema.get(name), schema.get(f"exclusive{name.capitalize()}")
    if isinstance(inclusive, int | float):
        return inclusive
    return exclusive + step if isinstance(exclusive, int | float) else None


def _text(schema: Schema, name: str, position: int | None, limit: int) -> str:
    number = "" if position is None else f" {position + 1}"
    text = f"Simulated {name}{number}."
    min_length, max_length = schema.get("minLength"), schema.get("maxLength")
    if isinstance(min_length, int):
        text = text.ljust(min(min_length, limit), ".")
    return text[:max_length] if isinstance(max_length, int) else text
