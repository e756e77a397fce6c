"""Requests that Schemathesis makes of the schema: every answer is one that the schema and docs/graphql.md describe.

Half of them fit the schema and half do not, the same ones every time; half name things that exist.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import pytest
import schemathesis
from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    build_schema,
    parse,
    parse_value,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import booleans, sampled_from
from schemathesis.generation import GenerationMode

from cupel_core.interfaces.graphql.schema import printed
from tests.unit.api.client import Answer
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_tenancy import ids as ids  # a fixture

JSON_VALUES = sampled_from(["1", "-2.5", "true", "null", '"x"', "[]", '[1, "x"]', "{}", '{a: {b: ["c"]}}'])
REQUESTS = 2
"""Per field of Query and Mutation, and mode: as many as take half a minute for all of them."""
SCALARS: dict[str, Any] = {"Boolean": bool, "Float": (int, float), "ID": str, "Int": int, "String": str}
_VALUE = r'(?:"(?:[^"\\]|\\.)*"|-?\d+)'
_ID = re.compile(rf"\b(\w*?)([iI]d): {_VALUE}")
_PAGE = re.compile(r"\b(limit|first): -?\d+")


schemathesis.graphql.scalar("JSON", JSON_VALUES.map(parse_value))


@cache
def whole_schema() -> GraphQLSchema:
    return build_schema(printed())


@cache
def operations() -> list[Any]:
    """Deletions come last, so that the other mutations find existing things."""
    found = (each.ok() for each in schemathesis.graphql.from_file(printed()).get_all_operations())
    return sorted(found, key=lambda each: "delete" in each.label)


@pytest.mark.parametrize("root", ["Query", "Mutation"])
def test_every_answer_is_described(client: GraphqlClient, ids: dict[str, str], root: str) -> None:
    outcomes: dict[int, int] = {}
    for number, query in enumerate(queries(root, ids)):
        if number % 50 == 0:  # A token may send 100 requests at once.
            token = client.issue()
        answer = client.send(json.dumps({"query": query}), token=token)
        check(query, answer)
        outcomes[answer.status] = outcomes.get(answer.status, 0) + 1
    assert outcomes[200] > 50
    assert outcomes[400] > 50


def queries(root: str, ids: dict[str, str]) -> Iterator[str]:
    for operation in operations():
        if operation.label.startswith(f"{root}."):
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                for query, is_existing in examples(operation, mode):
                    yield with_existing(operation.label, query, ids) if is_existing else query


def examples(operation: Any, mode: GenerationMode) -> list[tuple[str, bool]]:
    made: list[tuple[str, bool]] = []

    @settings(
        max_examples=REQUESTS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), booleans())
    def make(case: Any, is_existing: bool) -> None:
        made.append((str(case.body), is_existing))

    make()
    return made


def with_existing(label: str, query: str, ids: dict[str, str]) -> str:
    """The query with ids of things that exist, and pages of a possible size."""

    def existing(match: re.Match[str]) -> str:
        name = (match[1] or label.partition(".")[2]).lower()
        found = max(ids, key=name.rfind)
        return f'{match[1]}{match[2]}: "{ids[found]}"' if found in name else match[0]

    return _PAGE.sub(r"\1: 3", _ID.sub(existing, query))


def check(query: str, answer: Answer) -> None:
    assert answer.status in (200, 400), (query, answer.text)
    body = answer.json()
    for error in body.get("errors", ()):
        extensions = error["extensions"]
        assert error["message"]
        assert re.fullmatch("[A-Z]+(_[A-Z]+)*", extensions["code"])
        assert 400 <= extensions["status"] < 500, (query, error)
    if answer.status == 400:
        assert body["errors"]
        assert "data" not in body
    else:
        (operation,) = (each for each in parse(query).definitions if isinstance(each, OperationDefinitionNode))
        root = whole_schema().get_root_type(operation.operation)
        assert root is not None
        if body["data"] is None:
            assert body["errors"]
        else:
            check_object(body["data"], root, operation.selection_set)


def check_object(found: dict[str, Any], kind: GraphQLObjectType, selection: SelectionSetNode) -> None:
    """It has the fields of the selection, and no others, with values of their types."""
    fields = [each for each in selection.selections if isinstance(each, FieldNode)]
    assert {(each.alias or each.name).value for each in fields} == set(found)
    for each in fields:
        declared = GraphQLNonNull(whole_schema().type_map["String"]) if each.name.value == "__typename" else None
        value_type = declared or kind.fields[each.name.value].type
        check_value(found[(each.alias or each.name).value], value_type, each.selection_set)


def check_value(found: Any, kind: Any, selection: SelectionSetNode | None) -> None:
    if isinstance(kind, GraphQLNonNull):
        assert found is not None
        kind = kind.of_type
    if found is None:
        return
    if isinstance(kind, GraphQLList):
        for each in found:
            check_value(each, kind.of_type, selection)
    elif isinstance(kind, GraphQLObjectType):
        assert selection is not None
        check_object(found, kind, selection)
    elif isinstance(kind, GraphQLEnumType):
        assert found in kind.values
    elif kind.name == "DateTime":
        assert datetime.fromisoformat(found).tzinfo is not None
    elif kind.name != "JSON":
        assert isinstance(found, SCALARS[kind.name]), (kind.name, found)
