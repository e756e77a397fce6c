"""The schema: schema.graphql and types.graphql, with the functions that resolve fields."""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from graphql import (
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    build_ast_schema,
    parse,
    print_schema,
)

from cupel_core.contract.operations import Operation
from cupel_core.errors import Forbidden, Invalid
from graphqlapi.auditing import audit
from graphqlapi.registry import RESOLVERS, Resolver
from graphqlapi.request import Request

FOLDER = Path(__file__).parent
SUBJECTS = ("analysis", "comparisons", "definition_changes", "definitions", "run_changes", "runs", "workspace")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def schema() -> GraphQLSchema:
    """Built once per process. Its validity is checked by a test."""
    for subject in SUBJECTS:
        import_module(f"graphqlapi.resolvers.{subject}")
    text = "\n".join((FOLDER / name).read_text() for name in ("schema.graphql", "types.graphql"))
    built = build_ast_schema(parse(text, no_location=True), assume_valid=True, assume_valid_sdl=True)
    for name, resolver in RESOLVERS.items():
        _bind(built, name, resolver)
    cast("GraphQLScalarType", built.type_map["DateTime"]).parse_value = _parse_time  # type: ignore[method-assign]
    return built


@cache
def printed() -> str:
    """The whole schema in its definition language."""
    return print_schema(schema()) + "\n"


def _bind(built: GraphQLSchema, name: str, resolver: Resolver) -> None:
    parent_name, _, field_name = name.partition(".")
    field = cast("GraphQLObjectType", built.type_map[parent_name]).fields[field_name]
    for argument_name, argument in field.args.items():
        argument.out_name = _argument_name(argument_name, resolver.operation, field.args)
    field.resolve = _resolve(resolver, is_mutation=parent_name == "Mutation")


def _argument_name(name: str, operation: Operation, siblings: Mapping[str, Any]) -> str:
    """In snake case; `id` is what the operation's path calls it, and `input` is the body of the operation."""
    if name == "input":
        return "body"
    if name == "runId" and "id" in siblings:
        return "named_run_id"
    if name == "id":
        return operation.path.rpartition("{")[2].partition("}")[0]
    return _WORD.sub("_", name).lower()


def _resolve(resolver: Resolver, *, is_mutation: bool) -> Callable[..., Awaitable[Any]]:
    is_async = inspect.iscoroutinefunction(resolver.function)

    async def resolve(source: Any, info: GraphQLResolveInfo, **arguments: Any) -> Any:
        request: Request = info.context
        if is_mutation:
            return await asyncio.to_thread(_change, resolver, request, source, arguments)
        _check_role(resolver.operation, request)
        if is_async:
            return await resolver.function(request, source, **arguments)
        return await asyncio.to_thread(resolver.function, request, source, **arguments)

    return resolve


def _change(resolver: Resolver, request: Request, source: Any, arguments: dict[str, Any]) -> Any:
    """Carry out a mutation, which no other one of the request overlaps, and record it."""
    try:
        _check_role(resolver.operation, request)
        result = resolver.function(request, source, **arguments)
    except Exception as error:
        audit(resolver.operation, request, arguments, error)
        raise
    audit(resolver.operation, request, arguments, result)
    return result


def _check_role(operation: Operation, request: Request) -> None:
    role = request.caller.role
    if not operation.permits(role):
        raise Forbidden(f"{operation.id} requires the role {operation.minimum_role}; this token has {role}")


def _parse_time(value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid.field("DateTime", "must be a time in ISO 8601")
    return value
