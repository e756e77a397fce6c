"""Lists models whose calls are missing in the cost of a run, because their price is unknown."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cupel_core.domain.analysis.column_totals import ColumnTotals, CostTotal

TARGET = "target"


class UnpricedCalls(NamedTuple):
    model: str
    roles: tuple[str, ...]
    """The model was called in these roles, each of which has calls without a price."""
    calls: int | None
    """None if it is not known how many of the calls have no price."""


def unpriced_calls(
    columns: Iterable[tuple[str, ColumnTotals]], has_price: Callable[[str], bool]
) -> list[UnpricedCalls]:
    """Return the targets' models and other models without a price. Models other than targets are known only where their
    usage was recorded; a role without recorded models is not included."""
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
    """Yield the models. A provider may report the cost with a reply, so some calls of a target may have a price without
    a list."""
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
