"""Whether a run fits into what is left of its budgets, or somebody must agree to it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import ceil

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.money import amount_text
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


def sufficient_usd(estimate: EstimateInterval, reserved_usd: float) -> float:
    """The least budget that needs no confirmation, in the digits that are shown."""
    return ceil((confirmable_usd(estimate) + reserved_usd) * 1e6 - 1e-6) / 1e6


def excess_reason(
    what: str, estimate: EstimateInterval, reserved_usd: float, max_usd: float, budget: str, runs_at_once: int = 1
) -> str:
    """Why it must be confirmed; `budget` names what has `max_usd` left. `reserved_usd` is for a call of each run."""
    cost = f"{what} is expected to cost {amount_text(estimate.expected)} "
    cost += f"(from {amount_text(estimate.low)} to {amount_text(estimate.high)})"
    if confirmable_usd(estimate) > max_usd:
        return f"{cost}, more than {budget}"
    call = "a call of it needs" if runs_at_once == 1 else f"a call of each of its {runs_at_once} runs, together, needs"
    return f"{cost}, and {call} up to {amount_text(reserved_usd)} in hand: together more than {budget}"


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
