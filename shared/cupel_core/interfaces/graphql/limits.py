"""Checks the length, the nesting and the cost of a query before anything is read for it.

Checks take time in proportion to the query: a fragment is measured once, however often it is spread.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    Lexer,
    OperationDefinitionNode,
    SelectionSetNode,
    Source,
    TokenKind,
    Undefined,
    get_named_type,
    get_nullable_type,
)
from graphql.execution.values import get_argument_values

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import ClientError
from cupel_core.base.paging import DEFAULT_LIMIT, MAX_LIMIT
from cupel_core.interfaces.graphql.registry import find_resolver

MAX_BODY_BYTES = 1024 * 1024
"""Other requests have the same limit. The long texts of definitions belong in variables, not in the query."""
MAX_QUERY_BYTES = 64 * 1024
MAX_TOKENS = 2_000
MAX_NESTING = 100
"""Brackets may be nested this deeply, because the parser recurses for each."""
MAX_DEPTH = 12
MAX_INTROSPECTION_DEPTH = 15
MAX_ALIASES = 30
MAX_COST = 5_000
_INTROSPECTION_COST = 500
_OPEN_LIMIT_IN_LIST = DEFAULT_LIMIT
_OFFSETS_PER_COST = 20
_OPENING = {TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L}
_CLOSING = {TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R}


class TooComplex(ClientError):
    title = "Query too complex"


def check_text(query: str) -> None:
    """Raise TooComplex for a text that would take long to parse, and GraphQLError for one that is no GraphQL."""
    if len(query.encode(errors="replace")) > MAX_QUERY_BYTES:
        raise TooComplex(f"the query must have at most {MAX_QUERY_BYTES:,} bytes; pass long values as variables")
    lexer, tokens, nesting = Lexer(Source(query)), 0, 0
    while (token := lexer.advance()).kind is not TokenKind.EOF:
        tokens += 1
        nesting += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if tokens > MAX_TOKENS:
            raise TooComplex(f"the query must have at most {MAX_TOKENS:,} tokens; pass long values as variables")
        if nesting > MAX_NESTING:
            raise TooComplex(f"the query must have at most {MAX_NESTING} nested brackets")


def has_open_limit(definition: GraphQLField) -> bool:
    """Return whether the list has a `limit` without a default, so that it answers all of a small list."""
    limit = definition.args.get("limit")
    return limit is not None and limit.default_value is Undefined


def open_limit(*, is_in_list: bool) -> int:
    """Return how many items such a list has without a `limit`: fewer if each item of another list has one."""
    return _OPEN_LIMIT_IN_LIST if is_in_list else MAX_LIMIT


def check_operation(
    schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Mapping[str, Any]
) -> None:
    root = schema.get_root_type(operation.operation)
    if root is None:  # Validation has refused it.
        return
    fragments = {each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)}
    measured = _Measure(schema, fragments, variables).selection(operation.selection_set, root)
    if measured.aliases > MAX_ALIASES:
        raise TooComplex(f"the query has {measured.aliases} aliases; the maximum is {MAX_ALIASES}")
    if measured.depth > MAX_DEPTH:
        raise TooComplex(f"the query is {measured.depth} levels deep; the maximum is {MAX_DEPTH}")
    if measured.introspection_depth > MAX_INTROSPECTION_DEPTH:
        raise TooComplex(f"introspection must be at most {MAX_INTROSPECTION_DEPTH} levels deep")
    if measured.cost > MAX_COST:
        raise TooComplex(
            f"the query costs {measured.cost:,}; the maximum is {MAX_COST:,}. Each object costs 1 or more, multiplied "
            "by the `limit` and `first` of the fields around it"
        )


@dataclass
class _Size:
    cost: int = 0
    depth: int = 0
    introspection_depth: int = 0
    aliases: int = 0

    def add(self, other: "_Size") -> None:
        self.cost = min(self.cost + other.cost, 10**9)
        self.depth = max(self.depth, other.depth)
        self.introspection_depth = max(self.introspection_depth, other.introspection_depth)
        self.aliases = min(self.aliases + other.aliases, 10**9)


@dataclass
class _Measure:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    known: dict[tuple[str, bool], _Size] = field(default_factory=dict)
    """Maps a fragment's name, and whether a list surrounds it, to its size. Validation refuses recursive
    fragments."""

    def selection(self, selection: SelectionSetNode, parent: GraphQLObjectType, *, is_in_list: bool = False) -> _Size:
        size = _Size()
        for each in selection.selections:
            if isinstance(each, FieldNode):
                size.add(self._field(each, parent, is_in_list=is_in_list))
            elif isinstance(each, FragmentSpreadNode):
                size.add(self._fragment(each.name.value, is_in_list=is_in_list))
            elif isinstance(each, InlineFragmentNode):
                size.add(self.selection(each.selection_set, parent, is_in_list=is_in_list))
        return size

    def _fragment(self, name: str, *, is_in_list: bool) -> _Size:
        key = name, is_in_list
        if key not in self.known:
            fragment, size = self.fragments[name], _Size()
            parent = self.schema.type_map[fragment.type_condition.name.value]
            if isinstance(parent, GraphQLObjectType):
                size = self.selection(fragment.selection_set, parent, is_in_list=is_in_list)
            self.known[key] = size
        return self.known[key]

    def _field(self, node: FieldNode, parent: GraphQLObjectType, *, is_in_list: bool) -> _Size:
        name = node.name.value
        if name.startswith("__"):
            return self._introspection(node)
        definition = parent.fields[name]
        inner, kind = _Size(), get_named_type(definition.type)
        is_list = is_in_list or isinstance(get_nullable_type(definition.type), GraphQLList)
        if node.selection_set and isinstance(kind, GraphQLObjectType):
            inner = self.selection(node.selection_set, kind, is_in_list=is_list)
        cost, times = 0, 1
        if (resolver := find_resolver(f"{parent.name}.{name}")) is not None:
            arguments = get_argument_values(definition, node, dict(self.variables))
            if has_open_limit(definition) and arguments.get("limit") is None:
                arguments["limit"] = open_limit(is_in_list=is_in_list)
            items = max(0, _number(arguments, "limit"), _number(arguments, "first"))
            named = _count_listed(arguments) if resolver.operation.is_read else 0
            offsets = max(0, _number(arguments, "offset"))
            cost = resolver.cost + (items + named) * resolver.item_cost + offsets // _OFFSETS_PER_COST
            times = max(1, items)
        aliases = inner.aliases + (node.alias is not None)
        return _Size(cost + times * inner.cost, inner.depth + 1, inner.introspection_depth, aliases)

    def _introspection(self, node: FieldNode) -> _Size:
        if node.name.value == "__typename":
            return _Size(depth=1, aliases=int(node.alias is not None))
        inner = self._introspected(node.selection_set)
        return _Size(_INTROSPECTION_COST, 1, inner.introspection_depth + 1, inner.aliases + (node.alias is not None))

    def _introspected(self, selection: SelectionSetNode | None) -> _Size:
        size = _Size()
        for each in selection.selections if selection else ():
            if isinstance(each, FieldNode):
                inner = self._introspected(each.selection_set)
                aliases = inner.aliases + (each.alias is not None)
                size.add(_Size(0, 0, inner.introspection_depth + 1, aliases))
            elif isinstance(each, FragmentSpreadNode):
                size.add(self._introspected_fragment(each.name.value))
            elif isinstance(each, InlineFragmentNode):
                size.add(self._introspected(each.selection_set))
        return size

    def _introspected_fragment(self, name: str) -> _Size:
        if (name, False) not in self.known:
            self.known[name, False] = self._introspected(self.fragments[name].selection_set)
        return self.known[name, False]


def _count_listed(arguments: Mapping[str, Any]) -> int:
    """Count the items of the lists among the arguments: each may name something to read."""
    return sum(len(value) for value in arguments.values() if isinstance(value, list))


def _number(arguments: Mapping[str, Any], name: str) -> int:
    value = arguments.get(name)
    return value if isinstance(value, int) else 0
