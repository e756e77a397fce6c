"""Whether a run fits into what is left of its budgets, or somebody must agree to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

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


def needs_confirmation(estimate: EstimateInterval, max_usd: float, confirmed_usd: float | None) -> bool:
    """Only the expected cost counts: the upper bound of a run's first estimate exceeds most budgets."""
    expected = confirmable_usd(estimate)
    return expected > max_usd and (confirmed_usd is None or confirmed_usd < expected)


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
    """The scarcest budget, if the expected cost is more than is left of it."""
    perhaps_exceeded: BudgetScope | None
    """The scarcest budget, if the upper bound is more than is left of it."""
    needs_confirmation: bool


def budget_fit(
    estimate: EstimateInterval, left_usd: Mapping[BudgetScope, float], confirmed_usd: float | None
) -> BudgetFit:
    if not left_usd:
        return BudgetFit({}, None, None, needs_confirmation=False)
    scarcest = min(left_usd, key=left_usd.__getitem__)
    left = left_usd[scarcest]
    return BudgetFit(
        left_usd,
        scarcest if confirmable_usd(estimate) > left else None,
        scarcest if round(estimate.high, _DIGITS) > left else None,
        needs_confirmation(estimate, left, confirmed_usd),
    )
