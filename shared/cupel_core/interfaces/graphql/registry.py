"""Registers which function resolves a field, which operation of the API it stands for, and what it costs.

Fields that no function resolves are read by name from what the field around them returned. The module of a field is
imported when a query has the field for the first time: a process answers its first query sooner.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from cupel_core.contract.operation import Route
from cupel_core.interfaces.graphql.resolvers import FIELDS
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


MODULES = {field: module for module, fields in FIELDS.items() for field in fields}
_RESOLVERS: dict[str, Resolver] = {}
"""The keys are a type and its field, such as `Run.definition`; only the fields of imported modules are present."""


def find_resolver(field: str) -> Resolver | None:
    """None for a field that is read by name."""
    if field not in MODULES:
        return None
    if field not in _RESOLVERS:
        import_module(f"cupel_core.interfaces.graphql.resolvers.{MODULES[field]}")
    return _RESOLVERS[field]


def resolves[F: Callable[..., Any]](
    field: str, operation_id: str, cost: int = 1, item_cost: int = 1
) -> Callable[[F], F]:
    """Registers the decorated function for a field of FIELDS. KeyError for an undeclared operation."""
    operation = ROUTES[operation_id]

    def register(function: F) -> F:
        _RESOLVERS[field] = Resolver(function, operation, cost, item_cost, inspect.iscoroutinefunction(function))
        return function

    return register
