import asyncio
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from graphql import (
    GraphQLArgument,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    Undefined,
    build_ast_schema,
    parse,
    print_schema,
)

from cupel_core.base.errors import Forbidden, Invalid
from cupel_core.base.paging import Page
from cupel_core.contract.routes import Route
from cupel_core.interfaces.graphql.auditing import audit
from cupel_core.interfaces.graphql.inputs import as_argument, whole_numbers
from cupel_core.interfaces.graphql.lazy_schema import LazySchema
from cupel_core.interfaces.graphql.limits import has_open_limit, open_limit
from cupel_core.interfaces.graphql.registry import MODULES, Resolver, find_resolver
from cupel_core.interfaces.graphql.request import Request

FOLDER = Path(__file__).parent
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def schema() -> GraphQLSchema:
    """Return the schema, which is built once per process. A test checks that it is valid."""
    lazy = LazySchema(sdl(), lambda parent, field: _resolve if f"{parent}.{field}" in MODULES else None)
    cast("GraphQLScalarType", lazy.type_map["DateTime"]).parse_value = _parse_time  # type: ignore[method-assign]
    return lazy


def sdl() -> str:
    return "\n".join((FOLDER / name).read_text() for name in ("schema.graphql", "types.graphql"))


@cache
def printed() -> str:
    """Return the whole schema in its definition language, without extensions, and with types after those that name
    them."""
    whole = build_ast_schema(parse(sdl(), no_location=True), assume_valid=True, assume_valid_sdl=True)
    return print_schema(whole) + "\n"


async def _resolve(source: Any, info: GraphQLResolveInfo, **arguments: Any) -> Any:
    request: Request = info.context
    resolver, names = _resolver_of(info.parent_type, info.field_name)
    is_change = info.parent_type.name == "Mutation"
    if not is_change:
        _check_role(resolver.operation, request)
        _refuse_null(info.parent_type.fields[info.field_name].args, arguments)
    arguments = {names[name]: whole_numbers(value) for name, value in arguments.items()}
    if is_change:
        return await asyncio.to_thread(_change, resolver, request, source, arguments)
    if has_open_limit(info.parent_type.fields[info.field_name]) and arguments.get("limit") is None:
        path = info.path.as_list()
        arguments["limit"] = open_limit(is_in_list=any(isinstance(key, int) for key in path))
    try:
        if resolver.is_async:
            result = await resolver.function(request, source, **arguments)
        else:
            result = await asyncio.to_thread(resolver.function, request, source, **arguments)
    except Invalid as refusal:
        raise as_argument(refusal) from None
    return _list_of(result, info) if isinstance(result, Page) else result


def _list_of(page: Page[Any], info: GraphQLResolveInfo) -> list[Any]:
    """Return the items of a list, and note if it has more, so that the response says this."""
    if page.next_cursor is not None:
        info.context.cut_lists.append(info.path.as_list())
    return list(page.items)


def _refuse_null(declared: Mapping[str, GraphQLArgument], arguments: Mapping[str, Any]) -> None:
    """Refuse null for an argument with a default: it may be left out, but GraphQL also lets it be null."""
    for name, value in arguments.items():
        if value is None and declared[name].default_value is not Undefined:
            raise Invalid.field(name, "must not be null; it may be omitted")


@cache
def _resolver_of(parent: GraphQLObjectType, name: str) -> tuple[Resolver, Mapping[str, str]]:
    resolver, arguments = find_resolver(f"{parent.name}.{name}"), parent.fields[name].args
    if resolver is None:
        raise LookupError(f"{parent.name}.{name} has no resolver")
    return resolver, {each: resolver.names.get(each) or _WORD.sub("_", each).lower() for each in arguments}


def _change(resolver: Resolver, request: Request, source: Any, arguments: dict[str, Any]) -> Any:
    request.begin_change()
    try:
        _check_role(resolver.operation, request)
        result = resolver.function(request, source, **arguments)
    except Exception as error:
        audit(resolver.operation, request, arguments, error)
        raise
    audit(resolver.operation, request, arguments, result)
    return result


def _check_role(operation: Route, request: Request) -> None:
    role = request.caller.role
    if not operation.permits(role):
        raise Forbidden(f"{operation.id} requires the role {operation.minimum_role}; this token has {role}")


def _parse_time(value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid.field("DateTime", "must be a time in ISO 8601")
    return value
