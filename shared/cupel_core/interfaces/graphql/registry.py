"""Finds what resolves a field, which operation of the API it stands for, and what it costs.

Fields of Query and Mutation are derived from operations; others that read something have a function in a module of
`resolvers`. All other fields are read by name from what the field around them returned. The module of a field is
imported when a query has the field for the first time: a process answers its first query sooner.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from cupel_core.contract.operation import Route
from cupel_core.interfaces.graphql.resolvers import FIELDS
from cupel_core.interfaces.graphql.root_fields import ROOT_FIELDS, RootField
from cupel_core.interfaces.routes import ROUTES


class Resolver(NamedTuple):
    function: Callable[..., Any]
    """Gets the request, the object around the field and the field's arguments in snake case. If it is no coroutine, it
    is called in a thread."""
    operation: Route
    """A caller whose role may not call this operation of the API may not read the field."""
    cost: int
    item_cost: int
    """This cost is added for each item of a list, for as many as `limit` or `first` says."""
    is_async: bool
    names: Mapping[str, str] = MappingProxyType({"input": "body"})
    """It has the function's name of each argument that is not the argument's name in snake case."""


MODULES = {field: f"interfaces.graphql.resolvers.{module}" for module, fields in FIELDS.items() for field in fields}
MODULES |= {field: each.route.module for field, each in ROOT_FIELDS.items()}
"""The module below `cupel_core` that each field needs, by a type and its field such as `Run.definition`."""
_RESOLVERS: dict[str, Resolver] = {}
"""The keys are those of MODULES; only the fields of imported modules are present."""


def find_resolver(field: str) -> Resolver | None:
    """None for a field that is read by name."""
    if field not in MODULES:
        return None
    if field not in _RESOLVERS:
        if field in ROOT_FIELDS:
            _RESOLVERS[field] = _derive(ROOT_FIELDS[field])
        else:
            import_module(f"cupel_core.{MODULES[field]}")
    return _RESOLVERS[field]


def _derive(field: RootField) -> Resolver:
    from cupel_core.interfaces.graphql.operations import resolve_with  # validates arguments, as only requests need

    function = resolve_with(field)
    return Resolver(function, field.route, field.cost, field.override.item_cost, is_async=False, names=field.parameters)


def resolves[F: Callable[..., Any]](
    field: str, operation_id: str, cost: int = 1, item_cost: int = 1
) -> Callable[[F], F]:
    """Registers the decorated function for a field of FIELDS. KeyError for an undeclared operation."""
    operation = ROUTES[operation_id]

    def register(function: F) -> F:
        _RESOLVERS[field] = Resolver(function, operation, cost, item_cost, inspect.iscoroutinefunction(function))
        return function

    return register
