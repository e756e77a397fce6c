from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import added_costs

ROLES = {
    ModelRole.TARGET: "target",
    ModelRole.JUDGE: "judge",
    ModelRole.PERSONA: "simulated user",
    ModelRole.OPERATION: "operations",
}
"""Costs are shown by these roles, in this order and with these names. Judges include summaries."""


class RoleCost(NamedTuple):
    role: ModelRole
    calls: int
    cost_usd: float | None
    """None if the price of a call is unknown."""


def role_costs(calls: Mapping[str, tuple[int, float | None]]) -> tuple[RoleCost, ...]:
    costs: dict[ModelRole, RoleCost] = {}
    for kind, (number, usd) in calls.items():
        if number:
            role = ModelRole.JUDGE if kind == ModelRole.SUMMARY else ModelRole(kind)
            before = costs.get(role, RoleCost(role, 0, 0.0))
            costs[role] = RoleCost(role, before.calls + number, added_costs(before.cost_usd, usd))
    return tuple(costs[role] for role in ROLES if role in costs)


def added_role_costs(costs: Iterable[RoleCost]) -> tuple[RoleCost, ...]:
    sums: dict[ModelRole, RoleCost] = {}
    for cost in costs:
        before = sums.get(cost.role, RoleCost(cost.role, 0, 0.0))
        sums[cost.role] = RoleCost(cost.role, before.calls + cost.calls, added_costs(before.cost_usd, cost.cost_usd))
    return tuple(sums[role] for role in ROLES if role in sums)
