"""Finds the resolver of a field, the operation of the API that it corresponds to, and its cost.

Fields of Query and Mutation are derived from operations; others that read something have a function in a module of
`resolvers`. All other fields are read by name from the value of the field around them. The module of a field is
imported when a query has the field for the first time, so that a process answers its first query sooner.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from cupel_core.contract.routes import Route
from cupel_core.interfaces.graphql.resolvers import FIELDS
from cupel_core.interfaces.graphql.root_fields import ROOT_FIELDS, RootField
from cupel_core.interfaces.routes import ROUTES


class Resolver(NamedTuple):
    function: Callable[..., Any]
    """A function that gets the request, the object around the field and the field's arguments in snake case. It is
    called in a thread unless it is a coroutine."""
    operation: Route
    cost: int
    item_cost: int
    is_async: bool
    names: Mapping[str, str] = MappingProxyType({"input": "body"})
    """Maps arguments to the function's names where these are not the arguments' names in snake case."""


MODULES = {field: f"interfaces.graphql.resolvers.{module}" for module, fields in FIELDS.items() for field in fields}
MODULES |= {field: each.route.module for field, each in ROOT_FIELDS.items()}
"""Maps a type and its field, such as `Run.definition`, to the module below `cupel_core` that the field needs."""
_RESOLVERS: dict[str, Resolver] = {}


def find_resolver(field: str) -> Resolver | None:
    if field not in MODULES:
        return None
    if field not in _RESOLVERS:
        if field in ROOT_FIELDS:
            _RESOLVERS[field] = _derive(ROOT_FIELDS[field])
        else:
            import_module(f"cupel_core.{MODULES[field]}")
    return _RESOLVERS[field]


def _derive(field: RootField) -> Resolver:
    from cupel_core.interfaces.graphql.operations import resolve_with  # It validates arguments, as only requests need.

    function = resolve_with(field)
    return Resolver(function, field.route, field.cost, field.override.item_cost, is_async=False, names=field.parameters)


def resolves[F: Callable[..., Any]](
    field: str, operation_id: str, cost: int = 1, item_cost: int = 1
) -> Callable[[F], F]:
    operation = ROUTES[operation_id]

    def register(function: F) -> F:
        _RESOLVERS[field] = Resolver(function, operation, cost, item_cost, inspect.iscoroutinefunction(function))
        return function

    return register
