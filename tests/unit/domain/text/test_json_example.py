import json
from random import Random

import pytest

from cupel_core.domain.text.json_example import Schema, example_of


def example(schema: Schema) -> object:
    return example_of(schema, Random(1))


def test_an_object_has_all_its_properties() -> None:
    schema: Schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "sure": {"type": "boolean"}, "none": {"type": "null"}},
    }
    value = example(schema)
    assert isinstance(value, dict)
    assert list(value) == ["text", "sure", "none"]
    assert isinstance(value["text"], str)
    assert isinstance(value["sure"], bool)


def test_integers_and_numbers_keep_their_bounds() -> None:
    for seed in range(50):
        assert example_of({"type": "integer", "minimum": 3, "maximum": 4}, Random(seed)) in (3, 4)
        number = example_of({"type": "number", "minimum": 0, "maximum": 0.5}, Random(seed))
        assert isinstance(number, float)
        assert 0 <= number <= 0.5


def test_one_bound_is_enough() -> None:
    for seed in range(50):
        above = example_of({"type": "integer", "minimum": 10}, Random(seed))
        below = example_of({"type": "integer", "exclusiveMaximum": 0}, Random(seed))
        assert isinstance(above, int)
        assert isinstance(below, int)
        assert above >= 10
        assert below < 0


def test_an_enum_and_a_const_give_one_of_their_values() -> None:
    assert example({"enum": ["yes", "no"]}) in ("yes", "no")
    assert example({"const": 7}) == 7


def test_the_elements_of_an_array_take_the_values_of_an_enum_in_turn() -> None:
    element: Schema = {"type": "object", "properties": {"key": {"enum": ["a", "b", "c"]}, "n": {"type": "integer"}}}
    value = example({"type": "array", "minItems": 3, "items": element})
    assert value == [{"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "c", "n": 3}]


def test_references_and_alternatives_are_followed() -> None:
    schema: Schema = {
        "$defs": {"Code": {"enum": ["1"]}},
        "properties": {
            "code": {"$ref": "#/$defs/Code"},
            "maybe": {"anyOf": [{"const": "x"}, {"type": "null"}]},
            "nullable": {"type": ["null", "boolean"]},
        },
    }
    value = example(schema)
    assert isinstance(value, dict)
    assert value["code"] == "1"
    assert value["maybe"] == "x"
    assert isinstance(value["nullable"], bool)


def test_a_schema_that_contains_itself_ends() -> None:
    node: Schema = {"properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    value = example({"$defs": {"Node": node}, "$ref": "#/$defs/Node"})
    assert "children" in str(value)


def test_strings_keep_their_length() -> None:
    assert len(str(example({"type": "string", "minLength": 40}))) == 40
    assert len(str(example({"type": "string", "maxLength": 4}))) == 4


def test_a_schema_that_requires_itself_has_an_end() -> None:
    node: Schema = {"properties": {name: {"$ref": "#/$defs/node"} for name in "xyz"}, "required": ["x", "y", "z"]}
    assert len(json.dumps(example({"$ref": "#/$defs/node", "$defs": {"node": node}}))) < 100_000


@pytest.mark.parametrize(
    "element",
    [
        {"type": "string", "minLength": 10**9},
        {"const": "x" * 9_000},
        {"enum": ["x" * 9_000]},
        {"properties": {"x" * 9_000: {"type": "null"}}},
        {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 10**9}},
    ],
)
def test_the_size_of_an_example_is_limited(element: Schema) -> None:
    written = json.dumps(example({"type": "array", "minItems": 10**9, "items": element}))
    assert 9_000 < len(written) < 100_000
