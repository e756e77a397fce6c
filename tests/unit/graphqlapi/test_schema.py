"""The schema is valid, derived from the contract, and every field of it can be read."""

import re
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from graphql import (
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    ObjectTypeExtensionNode,
    build_schema,
    get_introspection_query,
    get_named_type,
    graphql_sync,
    parse,
    print_type,
    validate,
    validate_schema,
)

from cupel_core.interfaces.graphql import lazy_schema
from cupel_core.interfaces.graphql.lazy_schema import LazySchema
from cupel_core.interfaces.graphql.limits import has_open_limit, open_limit
from cupel_core.interfaces.graphql.registry import MODULES, Resolver, find_resolver
from cupel_core.interfaces.graphql.resolvers import FIELDS
from cupel_core.interfaces.graphql.schema import FOLDER, schema, sdl
from tests.conftest import ROOT
from tests.in_one_test import in_one_test
from tools.refresh import graphql_typescript

ROOTS = ("Query", "Mutation")


@cache
def whole() -> GraphQLSchema:
    """All types, as graphql-core builds them. Raises an error if the text is invalid."""
    return build_schema(sdl())


def test_the_schema_is_valid() -> None:
    assert validate_schema(whole()) == []


def test_a_type_that_is_read_when_it_is_needed_is_that_of_the_whole_schema() -> None:
    lazy = LazySchema(sdl(), lambda *_: None)
    assert set(lazy.type_map) == set(whole().type_map)
    assert len(lazy.type_map) == len(whole().type_map)
    for name, kind in whole().type_map.items():
        assert print_type(lazy.type_map[name]) == print_type(kind)
    assert "NoSuchType" not in lazy.type_map
    assert lazy.get_type("NoSuchType") is None


def test_introspection_shows_the_whole_schema() -> None:
    query = get_introspection_query(input_value_deprecation=True, specified_by_url=True)

    def types(of: GraphQLSchema) -> list[Any]:
        data = graphql_sync(of, query).data
        assert data is not None
        return sorted(data["__schema"]["types"], key=lambda each: str(each["name"]))

    assert types(LazySchema(sdl(), lambda *_: None)) == types(whole())


def test_a_query_reads_the_types_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    text = sdl()
    lazy = LazySchema(text, lambda *_: None)
    monkeypatch.setattr(lazy_schema, "parse", lambda text, **options: read.append(text) or parse(text, **options))
    assert validate(lazy, parse('{ run(id: "run_1") { id status progress { total } } }')) == []
    assert any("type RunProgress {" in each for each in read)
    assert sum(map(len, read)) < len(text) / 4


@pytest.mark.parametrize(
    "query",
    [
        "{ runs(status: DONE) { id } }",
        "{ run { id } }",
        '{ run(id: "a") { name { first } } }',
        '{ run(id: "a") { nam } }',
        "query ($input: StartRunInputs!) { me { role } }",
        'mutation { startRun(input: {models: "a"}) { id nothing } }',
        "query ($id: ID!) { run(id: $id) { ... on Definition { id } } }",
        '{ run(id: "a") { events(after: "x") { seq } } }',
    ],
)
def test_an_invalid_query_is_refused_as_by_the_whole_schema(query: str) -> None:
    def messages(of: GraphQLSchema) -> list[str]:
        return [each.message for each in validate(of, parse(query))]

    assert messages(LazySchema(sdl(), lambda *_: None)) == messages(whole()) != []


def test_typescript_has_what_answers_and_inputs_look_like() -> None:
    declared = graphql_typescript.render(schema())
    run = declared.partition("export interface Run {")[2].partition("\n}")[0]
    assert {"  id: string;", "  status: RunStatus;", "  analysis: Analysis | null;", "  models: string[];"} <= set(
        run.splitlines()
    )
    start = declared.partition("export interface StartRunInput {")[2].partition("\n}")[0]
    assert {"  definitionId: string;", "  models?: string[] | null;"} <= set(start.splitlines())
    assert 'export type AnalysisKind = "basic" | "deep";' in declared


def resolvers() -> dict[str, Resolver]:
    found = {name: find_resolver(name) for name in MODULES}
    return {name: each for name, each in found.items() if each is not None}


@pytest.mark.parametrize("module", FIELDS)
def test_each_module_resolves_the_fields_that_it_is_listed_with(module: str) -> None:
    resolved = {name for name, each in resolvers().items() if each.function.__module__.endswith(f".{module}")}
    assert sorted(resolved) == list(FIELDS[module])
    written = re.findall(r'@resolves\(\s*"([^"]+)"', (FOLDER / "resolvers" / f"{module}.py").read_text())
    assert sorted(written) == list(FIELDS[module])


def test_every_module_is_listed() -> None:
    modules = {path.stem for path in (FOLDER / "resolvers").glob("*.py")}
    assert modules - {"__init__", "lists"} == set(FIELDS)


def test_a_field_is_imported_when_a_query_has_it() -> None:
    script = "import sys; from graphqlapi import app; print([n for n in sys.modules if '.resolvers.' in n])"
    environment = {"PYTHONPATH": "functions:shared", "AWS_DEFAULT_REGION": "us-east-1", "PATH": ""}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_resolver_has_a_field() -> None:
    fields = {
        f"{name}.{field}"
        for name, kind in schema().type_map.items()
        if isinstance(kind, GraphQLObjectType)
        for field in kind.fields
    }
    assert set(MODULES) <= fields


def extended_fields() -> list[str]:
    """Those of schema.graphql that no model of the contract has."""
    declared = parse((FOLDER / "schema.graphql").read_text()).definitions
    extended = [each for each in declared if isinstance(each, ObjectTypeExtensionNode)]
    own = [f"{each.name.value}.{field.name.value}" for each in extended for field in each.fields]
    roots = [f"{root}.{field}" for root in ROOTS if root in schema().type_map for field in _fields(root)]
    return [*own, *roots]


def _fields(name: str) -> dict[str, Any]:
    kind = schema().type_map[name]
    assert isinstance(kind, GraphQLObjectType)
    return dict(kind.fields)


@in_one_test("field", extended_fields())
def test_every_field_that_no_model_has_is_resolved(field: str) -> None:
    assert field in MODULES


def test_queries_are_reading_operations_of_the_api() -> None:
    reading = {
        name: each.operation for name, each in resolvers().items() if not name.startswith(("Mutation.", "RunStarted."))
    }
    posted = {name for name, operation in reading.items() if operation.method != "GET"}
    others = {each for each in posted if not each.startswith("Query.estimate")}
    assert others == {"Query.checkProfile", "Query.planComparison"}


def test_lists_of_objects_are_bounded() -> None:
    """By an argument `limit` or `first` with a default, wherever a resolver reads a list, or by the limit of all."""
    for name in MODULES:
        parent, _, field = name.partition(".")
        definition = _fields(parent)[field]
        kind = definition.type.of_type if isinstance(definition.type, GraphQLNonNull) else definition.type
        if "Connection" in str(kind) or "limit" in definition.args:
            limit = definition.args.get("first") or definition.args["limit"]
            defaults = [open_limit(is_in_list=each) for each in (False, True)]
            for items in defaults if has_open_limit(definition) else [limit.default_value]:
                assert 1 <= items <= 100, name
        assert get_named_type(definition.type) is not None
