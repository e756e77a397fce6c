"""Whether a run fits into what is left of its budgets, or somebody must agree to it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from cupel_core.deferred import dataclass
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.estimates.intervals import EstimateInterval

_DIGITS = 6
"""To which estimates are shown: whoever agrees to the figure that was shown has agreed."""


class BudgetGuarantee(StrEnum):
    """How far a budget can be exceeded."""

    NEVER_EXCEEDED = "never_exceeded"
    """The cost of each call has an upper bound, which is set aside before it."""
    CALLS_IN_FLIGHT = "calls_in_flight"
    """Some answers have no limit: by what calls in flight cost beyond what was set aside for them."""
    UNPRICED_CALLS = "unpriced_calls"
    """By calls whose price is unknown, which the budget does not limit."""


def confirmable_usd(estimate: EstimateInterval) -> float:
    return round(estimate.expected, _DIGITS)


def needs_confirmation(
    estimate: EstimateInterval, max_usd: float, confirmed_usd: float | None, reserved_usd: float = 0.0
) -> bool:
    """Only the expected cost counts: the upper bound of a run's first estimate exceeds most budgets. Its last call must
    find `reserved_usd` left, or the run is paused before it."""
    expected = confirmable_usd(estimate)
    return expected + reserved_usd > max_usd and (confirmed_usd is None or confirmed_usd < expected)


def excess_reason(what: str, estimate: EstimateInterval, reserved_usd: float, max_usd: float, budget: str) -> str:
    """Why it must be confirmed; `budget` names what has `max_usd` left."""
    cost = f"{what} is expected to cost {_dollars(estimate.expected)} "
    cost += f"(from {_dollars(estimate.low)} to {_dollars(estimate.high)})"
    if confirmable_usd(estimate) > max_usd:
        return f"{cost}, more than {budget}"
    return f"{cost}, and a call of it needs up to {_dollars(reserved_usd)} in hand: together more than {budget}"


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4g}"


def unpriced_message(models: Iterable[str]) -> str:
    """Why `allowUnpriced` must be set; reads on after the field's name."""
    return (
        f"must be true, or a price must be set: the price of {', '.join(models)} is unknown, so the budget would not "
        "limit its calls"
    )


@dataclass(frozen=True)
class BudgetFit:
    """A run beside what it may spend: of its own budget, and of what is left of the workspace's day and month."""

    left_usd: Mapping[BudgetScope, float]
    """Of the budgets that there are."""
    exceeded: BudgetScope | None
    """The scarcest budget, if the expected cost and what the last call needs in hand are more than is left of it."""
    perhaps_exceeded: BudgetScope | None
    """The same of the upper bound."""
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
