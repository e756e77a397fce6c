"""Implements a schema whose types are read when a query first uses them.

A query uses few of the types, and reading all of them takes longer than all other work for the first query.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from graphql import (
    FieldDefinitionNode,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    InputValueDefinitionNode,
    parse,
    specified_scalar_types,
    type_from_ast,
    value_from_ast,
)

type Resolve = Callable[..., Any]

_KIND = re.compile(r"^(extend )?(type|input|enum|scalar) (\w+)", re.MULTILINE)
_SEPARATOR = re.compile(r"\n{2,}")


class _TypeText(NamedTuple):
    kind: str
    name: str
    head: str
    text: str


class LazySchema(GraphQLSchema):
    """Builds each type of an SDL when the type is first used.

    The SDL must be valid, have neither interfaces nor unions, and separate its definitions by empty lines.
    """

    def __init__(self, sdl: str, resolver_of: Callable[[str, str], Resolve | None]) -> None:
        """Create the schema. `resolver_of` returns the function that resolves a field of a type, or None if it is read
        by name."""
        super().__init__(assume_valid=True)
        self.type_map = _LazyTypes(self, sdl, resolver_of)  # type: ignore[assignment]
        for operation in ("query", "mutation"):
            setattr(self, f"{operation}_type", self.type_map[operation.capitalize()])


class _LazyTypes(Mapping[str, GraphQLNamedType]):
    """Maps names to types. Objects and inputs read their fields when these are first named."""

    def __init__(self, schema: GraphQLSchema, sdl: str, resolver_of: Callable[[str, str], Resolve | None]) -> None:
        self._schema = schema
        self._texts = _texts_by_name(sdl)
        self._built: dict[str, GraphQLNamedType] = {**specified_scalar_types, **schema.type_map}
        self._names = {**dict.fromkeys(self._texts), **dict.fromkeys(self._built)}
        self._resolver_of = resolver_of

    def __getitem__(self, name: str) -> GraphQLNamedType:
        if name not in self._built:
            self._built[name] = self._build(name)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def _build(self, name: str) -> GraphQLNamedType:
        definition = self._texts[name][0]
        match definition.kind:
            case "enum":
                return _enum(definition)
            case "type":
                return GraphQLObjectType(name, partial(self._fields, name), description=_description(definition))
            case "input":
                fields = partial(self._input_fields, name)
                return GraphQLInputObjectType(name, fields, description=_description(definition))
        return GraphQLScalarType(name, description=_description(definition))

    def _fields(self, name: str) -> dict[str, GraphQLField]:
        return {each.name.value: self._field(name, each) for each in self._nodes(name)}

    def _field(self, parent: str, node: FieldDefinitionNode) -> GraphQLField:
        return GraphQLField(
            self._type(node),
            {each.name.value: GraphQLArgument(**self._input(each)) for each in node.arguments},
            self._resolver_of(parent, node.name.value),
            description=_text(node),
        )

    def _input_fields(self, name: str) -> dict[str, GraphQLInputField]:
        return {each.name.value: GraphQLInputField(**self._input(each)) for each in self._nodes(name)}

    def _input(self, node: InputValueDefinitionNode) -> dict[str, Any]:
        kind = self._type(node)
        return {
            "type_": kind,
            "default_value": value_from_ast(node.default_value, kind),
            "description": _text(node),
        }

    def _nodes(self, name: str) -> list[Any]:
        return [field for each in self._texts[name] for field in _node(each.text).fields]

    def _type(self, node: FieldDefinitionNode | InputValueDefinitionNode) -> Any:
        kind = type_from_ast(self._schema, node.type)
        if kind is None:
            raise LookupError(f"{node.name.value} is of a type that the schema does not have")
        return kind


def _texts_by_name(sdl: str) -> dict[str, list[_TypeText]]:
    found: dict[str, list[_TypeText]] = defaultdict(list)
    for text in _SEPARATOR.split(sdl):
        if (match := _KIND.search(text)) is not None:
            is_extension, kind, name = match.groups()
            position = len(found[name]) if is_extension else 0
            found[name].insert(position, _TypeText(kind, name, text[: match.end()], text))
    return dict(found)


def _enum(definition: _TypeText) -> GraphQLEnumType:
    node = _node(definition.text)
    values = {each.name.value: GraphQLEnumValue(each.name.value, description=_text(each)) for each in node.values}
    return GraphQLEnumType(definition.name, values, description=_text(node))


def _description(definition: _TypeText) -> str | None:
    return _text(_node(definition.head))


def _node(text: str) -> Any:
    (node,) = parse(text, no_location=True).definitions
    return node


def _text(node: Any) -> str | None:
    return node.description.value if node.description else None
