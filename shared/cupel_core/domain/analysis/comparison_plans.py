"""Plans comparisons: compute the sizes of runs from the effect to detect and what is known of the spread."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.power import MAX_SCENARIOS, DifferenceVariance, PlannedRun, plan_runs, rate_variance

SECOND_LOOK = (
    "Plan before the run: scenarios that are added because a comparison was inconclusive are a second look at the "
    "same question, which raises the chance of a false alarm. Compare the added scenarios alone, or both together at "
    "half of alpha."
)
EFFECTS = (0.0001, 4)
"""The effect to detect and the standard deviation must lie between these."""
PILOT_SCENARIOS = (2, MAX_SCENARIOS)
MAX_TARGETS = 200
_ASSUMED_VARIANCE = {False: 1.0, True: 0.5}
"""A scenario's difference is assumed to vary by one squared point for decisions and, for rates, by the largest variance
that two independent answers can have."""


class PlanRequest(NamedTuple):
    effect: float
    metric: Metric | None = None
    """None stands for the pass rate if there is a `rate`, and for decisions otherwise."""
    rate: float | None = None
    spread: float | None = None
    pilot_scenarios: int | None = None
    """The spread was estimated from this many scenarios; None if it is known otherwise."""
    targets: int = 1

    @property
    def violations(self) -> Iterator[tuple[str, str]]:
        """Yield each field that is out of range or contradicts another, and why."""
        for name, value, (low, high) in (
            ("effect", self.effect, EFFECTS),
            ("rate", self.rate, (0, 1)),
            ("spread", self.spread, EFFECTS),
            ("pilotScenarios", self.pilot_scenarios, PILOT_SCENARIOS),
            ("targets", self.targets, (1, MAX_TARGETS)),
        ):
            if value is not None and not low <= value <= high:
                yield name, f"must be from {low:,} to {high:,}"
        if self.rate is not None and self.metric is Metric.DECISION:
            yield "rate", "is of pass rates; the metric is DECISION"
        if self.rate is not None and self.spread is not None:
            yield "spread", "follows from the rate; give one of them"
        if self.rate is not None and rate_variance(self.rate, self.effect) is None:
            yield "effect", f"no rate from 0 to 1 differs by {self.effect:g} from {self.rate:g}"
        if self.pilot_scenarios is not None and self.spread is None:
            yield "pilotScenarios", "needs the spread that was estimated from them"

    def plan(self) -> "ComparisonPlan":
        metric = self.metric or (Metric.DECISION if self.rate is None else Metric.PASS_RATE)
        return ComparisonPlan(metric, self.effect, self._differences(metric), self.pilot_scenarios, self.targets)

    def _differences(self, metric: Metric) -> DifferenceVariance:
        if self.spread is not None:
            return DifferenceVariance.of_pilot(self.spread**2, 0.0, 1.0, self.pilot_scenarios)
        of_rate = None if self.rate is None else rate_variance(self.rate, self.effect)
        return DifferenceVariance(_ASSUMED_VARIANCE[metric.is_rate] if of_rate is None else of_rate, 0.0)


@dataclass(frozen=True)
class ComparisonPlan:
    metric: Metric
    effect: float
    differences: DifferenceVariance
    pilot_scenarios: int | None = None
    """The spread is an upper bound estimated from this many scenarios; None if it was not estimated."""
    targets: int = 1
    personas: float = 1.0

    @property
    def runs(self) -> list[PlannedRun]:
        return list(plan_runs(self.effect, self.differences, tests=self.targets, personas=self.personas))

    def document(self) -> Mapping[str, Any]:
        return {
            "metric": str(self.metric),
            "effect": self.effect,
            "varianceBetweenScenarios": self.differences.between,
            "varianceWithinScenarios": self.differences.within,
            "pilotScenarios": self.pilot_scenarios,
            "personasPerScenario": self.personas,
            "plans": [
                {"repeats": each.repeats, "scenarios": each.scenarios, "probes": each.probes} for each in self.runs
            ],
        }
