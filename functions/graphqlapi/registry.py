"""Which function resolves a field, which operation of the API it stands for, and what it costs.

Fields that no function resolves are read by name from what the field around them returned.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from cupel_core.contract.operations import OPERATIONS, Operation


class Resolver(NamedTuple):
    function: Callable[..., Any]
    """Gets the request, the object around the field and the field's arguments in snake case. If it is no coroutine, it
    is called in a thread."""
    operation: Operation
    """Of the API: a caller whose role may not call it may not read the field."""
    cost: int
    item_cost: int
    """Of each item of a list, as many as `limit` or `first` says."""


RESOLVERS: dict[str, Resolver] = {}
"""By type and field, such as `Run.definition`."""


def resolves[F: Callable[..., Any]](
    field: str, operation_id: str, cost: int = 1, item_cost: int = 1
) -> Callable[[F], F]:
    """Registers the decorated function for a field. KeyError for an undeclared operation."""
    operation = OPERATIONS[operation_id]

    def register(function: F) -> F:
        RESOLVERS[field] = Resolver(function, operation, cost, item_cost)
        return function

    return register
