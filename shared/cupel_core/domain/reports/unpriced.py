"""Models whose calls are not in the cost of a run, because their price is unknown."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cupel_core.domain.analysis.column_totals import ColumnTotals, CostTotal

TARGET = "target"


class UnpricedCalls(NamedTuple):
    model: str
    roles: tuple[str, ...]
    """What it was called for, without those in which all calls have a price."""
    calls: int | None
    """None if it is not known how many of them have no price."""


def unpriced_calls(
    columns: Iterable[tuple[str, ColumnTotals]], has_price: Callable[[str], bool]
) -> list[UnpricedCalls]:
    """Of the targets' models with their totals, and of the models that were called besides them.

    Who is called in a role without a price is known by model since what is used of each is recorded; models of a role
    that has none recorded are not named.
    """
    found: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for target, totals in columns:
        for role, cost in totals.costs.items():
            for model, calls in _of_role(role, cost, target, has_price):
                found[model][role].append(calls)
    return [
        UnpricedCalls(model, tuple(roles), _sum(calls for each in roles.values() for calls in each))
        for model, roles in sorted(found.items())
    ]


def _of_role(
    role: str, cost: CostTotal, target: str, has_price: Callable[[str], bool]
) -> Iterable[tuple[str, int | None]]:
    """A provider may say with a reply what it costs, so some calls of a target may have a price without a list."""
    if not cost.unpriced:
        return
    if role == TARGET:
        yield target, None if cost.nano_usd else cost.calls
        return
    for model, use in cost.models.items():
        if len(cost.models) == 1 or not has_price(model):
            yield model, None if cost.nano_usd and len(cost.models) == 1 else use.calls


def _sum(calls: Iterable[int | None]) -> int | None:
    total = 0
    for each in calls:
        if each is None:
            return None
        total += each
    return total
