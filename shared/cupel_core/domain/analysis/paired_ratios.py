"""Ratios of geometric means: amounts such as times and costs of the same scenarios on two sides.

Scenarios differ in size by factors. A scenario's size cancels in its ratio, so a few large scenarios do not rule the
interval; a few scenarios with extreme ratios still do (docs/statistics.md). Numbers in, numbers out; None where a
figure is undefined.
"""

from collections.abc import Sequence
from math import exp
from statistics import fmean

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import binomial_mid_p, t_quantile, t_two_sided_p
from cupel_core.domain.analysis.paired import PairedValues, usual_difference
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, standard_error

_DIGITS = 9
"""Logarithms of ratios that agree in so many decimal places are equal."""


@dataclass(frozen=True)
class RatioEstimate:
    """The ratio of the geometric means over the scenarios, each of which counts once, and how well it is known."""

    scenarios: int
    baseline: float | None = None
    comparison: float | None = None
    """The geometric mean of the comparison side."""
    ratio: float | None = None
    """Comparison divided by baseline."""
    interval: Interval | None = None
    """None with fewer than MIN_SCENARIOS, and if nearly all scenarios have the same ratio: others may have any."""
    test: SignificanceTest = SignificanceTest.PAIRED_T
    p: float | None = None
    usual: float | None = None
    """The ratio that nearly all scenarios have; None if there is none."""
    usual_scenarios: int = 0
    """So many have it."""


def ratio_estimate(logarithms: Sequence[PairedValues], alpha: float) -> RatioEstimate:
    """Compare scenarios by the logarithms of their amounts: Student's paired t, or a sign test if hardly any scenario
    has another ratio than the others."""
    if not logarithms:
        return RatioEstimate(0)
    differences = [pair.difference for pair in logarithms]
    mean, error = fmean(differences), standard_error(differences)
    means = exp(fmean(pair.baseline for pair in logarithms)), exp(fmean(pair.comparison for pair in logarithms))
    scenarios = len(logarithms)
    if error is None or scenarios < MIN_SCENARIOS:
        return RatioEstimate(scenarios, *means, exp(mean))
    rounded = [round(each, _DIGITS) for each in differences]
    if (usual := usual_difference(rounded)) is not None:
        p = _sign_p(rounded, round(mean, _DIGITS))
        sign = SignificanceTest.SIGN
        return RatioEstimate(scenarios, *means, exp(mean), None, sign, p, exp(usual), rounded.count(usual))
    reach = t_quantile(1 - alpha / 2, scenarios - 1) * error
    interval = Interval(exp(mean - reach), exp(mean + reach))
    p = t_two_sided_p(mean / error, scenarios - 1)
    return RatioEstimate(scenarios, *means, exp(mean), interval, SignificanceTest.PAIRED_T, p)


def _sign_p(differences: Sequence[float], mean: float) -> float | None:
    """Return the mid-p of a sign test; None if the mean has not the sign of most scenarios."""
    rose, fell = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return None if (rose - fell) * mean <= 0 else binomial_mid_p(min(rose, fell), rose + fell)
