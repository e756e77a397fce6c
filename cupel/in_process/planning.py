"""Plans comparisons, which need no stack."""

from cupel.errors import UsageError
from cupel_core.domain.analysis.comparison_plans import ComparisonPlan, PlanRequest
from cupel_core.domain.analysis.metrics import Metric


def plan_comparison(
    effect: float,
    *,
    metric: str | None = None,
    rate: float | None = None,
    spread: float | None = None,
    pilot_scenarios: int | None = None,
    targets: int = 1,
) -> ComparisonPlan:
    """Plan a comparison: its `runs` say how many scenarios and repeats detect `effect` with a chance of 80 %.

    The spread of the scenarios' differences follows from `rate`, the pass rate of one side, or is `spread`, a standard
    deviation; with `pilot_scenarios`, from which it was estimated, its upper 80 % bound counts. Raises UsageError.
    """
    try:
        chosen = Metric(metric.upper()) if metric else None
    except ValueError:
        raise UsageError(f"metric: {metric!r} is not one of {', '.join(Metric)}") from None
    request = PlanRequest(effect, chosen, rate, spread, pilot_scenarios, targets)
    for field, why in request.violations:
        raise UsageError(f"{'pilot_scenarios' if field == 'pilotScenarios' else field}: {why}")
    return request.plan()
