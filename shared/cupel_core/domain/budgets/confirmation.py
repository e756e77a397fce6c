"""Decides whether a run fits into the rest of its budgets, or needs somebody's confirmation."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import ceil

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import amount_text
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.estimates.intervals import EstimateInterval

_DIGITS = 6
"""Estimates are shown, and must be confirmed, to this many decimal places."""


class BudgetGuarantee(StrEnum):
    """The degree to which a budget can be exceeded."""

    NEVER_EXCEEDED = "never_exceeded"
    """The cost of each call has an upper bound, which is set aside before it."""
    CALLS_IN_FLIGHT = "calls_in_flight"
    """Some answers have no limit, so calls in flight may cost more than was set aside for them."""
    UNPRICED_CALLS = "unpriced_calls"
    """Calls whose price is unknown are not limited by the budget."""


def confirmable_usd(estimate: EstimateInterval) -> float:
    return round(estimate.expected, _DIGITS)


def needs_confirmation(
    estimate: EstimateInterval, max_usd: float, confirmed_usd: float | None, reserved_usd: float = 0.0
) -> bool:
    """Return whether the expected cost, plus `reserved_usd` for the last call, exceeds the budget without confirmation.

    Only the expected cost counts, because the upper bound of a run's first estimate exceeds most budgets. The last call
    needs `reserved_usd`, or the run is paused before it.
    """
    expected = confirmable_usd(estimate)
    return expected + reserved_usd > max_usd and (confirmed_usd is None or confirmed_usd < expected)


def sufficient_usd(estimate: EstimateInterval, reserved_usd: float) -> float:
    """Return the least budget that needs no confirmation, in the digits that are shown."""
    return ceil((confirmable_usd(estimate) + reserved_usd) * 1e6 - 1e-6) / 1e6


def excess_reason(
    what: str, estimate: EstimateInterval, reserved_usd: float, max_usd: float, budget: str, runs_at_once: int = 1
) -> str:
    """Return why the cost must be confirmed. `budget` names what has `max_usd` left; `reserved_usd` is for one call of
    each run."""
    cost = f"{what} is expected to cost {amount_text(estimate.expected)} "
    cost += f"(from {amount_text(estimate.low)} to {amount_text(estimate.high)})"
    if confirmable_usd(estimate) > max_usd:
        return f"{cost}, more than {budget}"
    call = "a call of it needs" if runs_at_once == 1 else f"a call of each of its {runs_at_once} runs, together, needs"
    return f"{cost}, and {call} up to {amount_text(reserved_usd)} in hand: together more than {budget}"


def unpriced_message(models: Iterable[str]) -> str:
    """Return why `allowUnpriced` must be set, as a text that continues after the field's name."""
    return (
        f"must be true, or a price must be set: the price of {', '.join(models)} is unknown, so the budget would not "
        "limit its calls"
    )


@dataclass(frozen=True)
class BudgetFit:
    left_usd: Mapping[BudgetScope, float]
    exceeded: BudgetScope | None
    """The scarcest budget if less is left of it than the expected cost and the amount for the last call."""
    perhaps_exceeded: BudgetScope | None
    needs_confirmation: bool


def budget_fit(
    estimate: EstimateInterval,
    left_usd: Mapping[BudgetScope, float],
    confirmed_usd: float | None,
    reserved_usd: float = 0.0,
) -> BudgetFit:
    if not left_usd:
        return BudgetFit({}, None, None, needs_confirmation=False)
    scarcest = min(left_usd, key=left_usd.__getitem__)
    left = left_usd[scarcest]
    return BudgetFit(
        left_usd,
        scarcest if confirmable_usd(estimate) + reserved_usd > left else None,
        scarcest if round(estimate.high, _DIGITS) + reserved_usd > left else None,
        needs_confirmation(estimate, left, confirmed_usd, reserved_usd),
    )
