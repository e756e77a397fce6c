"""Whether somebody must agree to a run that is expected to cost more than its budget."""

from cupel_core.domain.estimates.intervals import EstimateInterval

_DIGITS = 6
"""To which estimates are shown: whoever agrees to the figure that was shown has agreed."""


def confirmable_usd(estimate: EstimateInterval) -> float:
    return round(estimate.expected, _DIGITS)


def needs_confirmation(estimate: EstimateInterval, max_usd: float, confirmed_usd: float | None) -> bool:
    """Only the expected cost counts: the upper bound of a run's first estimate exceeds most budgets."""
    expected = confirmable_usd(estimate)
    return expected > max_usd and (confirmed_usd is None or confirmed_usd < expected)
