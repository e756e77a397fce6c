"""Plans trials of a revised system prompt, and interprets their comparisons.

Both arms are run anew on the same scenarios, because conversations that were chosen for their failure improve by
themselves when they are repeated.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from math import ceil, sqrt
from random import Random
from statistics import fmean
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import normal_quantile
from cupel_core.domain.analysis.paired import minimum_detectable_effect
from cupel_core.domain.analysis.paired_rates import POWER
from cupel_core.domain.analysis.power import DifferenceVariance, scenarios_for
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.runs.settings import BudgetTerms
from cupel_core.domain.statistics import MIN_SCENARIOS, Trials
from cupel_core.domain.text.figures import format_interval, format_percent, format_points, format_points_apart

DIFFERENCE = 0.10
"""A trial is made large enough to find this difference of pass rates."""
ALPHA = 0.05
ARMS = 2
MAX_REPEATS = 100
BUDGETED_SHARE = 0.75
"""The arms are expected to use this share of a budget, because the revised prompt may be longer and calls in flight
reserve."""


class TrialVerdict(StrEnum):
    HELPS = "helps"
    HURTS = "hurts"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True)
class TrialRequest(BudgetTerms):
    """Cupel chooses `scenarios` or `repeats` if it is None. The budget is that of both arms together.

    All other settings of the arms are those of the run that the report is about.
    """

    scenarios: int | None = None
    repeats: int | None = None
    adds_last_calls: bool = False
    """The amount that the last call of each arm sets aside is added to the budget."""


class TrialMaterial(NamedTuple):
    scenarios: int
    answers: float
    """The number of an arm's answers to a scenario per repeat: its personas times the columns."""
    noise: float
    """The variance of whether a single conversation about a scenario passes."""

    def differences(self) -> DifferenceVariance:
        """Return the variances for an arm's scenarios. How much the effect varies between them is unknown, so its own
        size is assumed."""
        return DifferenceVariance(DIFFERENCE**2, ARMS * self.noise / self.answers)


class TrialSize(NamedTuple):
    scenarios: int
    repeats: int
    detectable_difference: float
    """A difference of pass rates of this size is found with a chance of 80 %."""


@dataclass(frozen=True)
class Trial:
    original_run_id: str
    revised_run_id: str
    experiment_id: str
    scenarios: int
    unseen_scenarios: int
    repeats: int
    detectable_difference: float
    max_budget_usd: float | None
    """The budget of both arms together."""
    created_at: datetime

    @property
    def run_ids(self) -> tuple[str, str]:
        return self.original_run_id, self.revised_run_id


def noise_of(scenarios: Iterable[Trials]) -> float:
    """Return the mean variance of single results within a scenario; without repeats, return the larger variance of
    all."""
    known = list(scenarios)
    repeated = [each.variance for each in known if each.variance is not None]
    if len(repeated) >= MIN_SCENARIOS:
        return fmean(repeated)
    passed, judged = sum(each.total for each in known), sum(each.n for each in known)
    rate = (passed + 2) / (judged + 4)  # By Agresti and Coull, a few equal results do not make the noise 0.
    return rate * (1 - rate)


def trial_size(material: TrialMaterial, max_probes: int) -> TrialSize:
    """Return the smallest trial that finds DIFFERENCE, with at most about this many probes per arm."""
    per_scenario = max(1, int(max_probes / material.answers))
    if material.scenarios == 1:
        z = normal_quantile(1 - ALPHA / 2) + normal_quantile(POWER)
        needed = ceil(z**2 * ARMS * material.noise / material.answers / DIFFERENCE**2)
        return sized(material, 1, max(MIN_SCENARIOS, min(needed, per_scenario, MAX_REPEATS)))
    scenarios, repeats = _needed(material)
    if scenarios * repeats > per_scenario:
        scenarios = max(MIN_SCENARIOS, min(material.scenarios, per_scenario))
        repeats = max(1, per_scenario // scenarios)
    return sized(material, scenarios, repeats)


def _needed(material: TrialMaterial) -> tuple[int, int]:
    """Return scenarios and repeats, with as few repeats as possible, because another scenario says more than another
    repeat."""
    differences = material.differences()
    for repeats in range(1, MAX_REPEATS + 1):
        scenarios = scenarios_for(DIFFERENCE, sqrt(differences.of_difference(repeats)), ALPHA, 1)
        if scenarios is not None and scenarios <= material.scenarios:
            return scenarios, repeats
    return material.scenarios, MAX_REPEATS


def sized(material: TrialMaterial, scenarios: int, repeats: int) -> TrialSize:
    if scenarios == 1:
        z = normal_quantile(1 - ALPHA / 2) + normal_quantile(POWER)
        found = z * sqrt(ARMS * material.noise / (material.answers * repeats))
    else:
        spread = sqrt(material.differences().of_difference(repeats))
        found = minimum_detectable_effect(spread / sqrt(scenarios), scenarios, ALPHA)
    return TrialSize(scenarios, repeats, min(1.0, found))


def choose_scenarios(groups: Sequence[Sequence[int]], count: int, seed: int) -> list[int]:
    """Return random positions, ascending: from the first group as long as it has any, then from the next."""
    rng, chosen = Random(seed), list[int]()  # noqa: S311 - a sample
    for group in groups:
        chosen += rng.sample(group, min(len(group), count - len(chosen)))
    return sorted(chosen)


class TrialResult(NamedTuple):
    """Pass rates are shares; unknown ones are None."""

    verdict: TrialVerdict
    original_rate: float | None
    revised_rate: float | None
    difference: float | None
    interval: Sequence[float] | None
    p: float | None
    detectable_difference: float
    """The smallest difference that would have been found with a chance of 80 %."""

    @property
    def sentence(self) -> str:
        claim = {
            TrialVerdict.HELPS: "The revised prompt helps",
            TrialVerdict.HURTS: "The revised prompt hurts",
            TrialVerdict.NOT_SHOWN: "It is not shown that the revised prompt changes the pass rate",
        }[self.verdict]
        if self.original_rate is None or self.revised_rate is None or self.difference is None:
            return f"{claim}: too few conversations have results on both sides."
        interval = ""
        if self.interval is not None:
            interval = f", 95% interval {format_interval(self.interval, format_points)}"
        figures = (
            f"{format_percent(self.revised_rate)} passed instead of {format_percent(self.original_rate)} "
            f"({format_points(self.difference)}{interval})"
        )
        if self.verdict is not TrialVerdict.NOT_SHOWN:
            return f"{claim}: {figures}."
        apart = format_points_apart(self.detectable_difference)
        found = f"a difference of {apart} would have been found in 80% of trials"
        return f"{claim}: {figures}; {found}."


def verdict_of(overall: ComparisonVerdict | None, rows: Sequence[ComparisonVerdict]) -> TrialVerdict:
    """Return the verdict; `overall` is that of all targets together or None, and `rows` are those of single targets."""
    verdicts = set(rows) if overall is None else {overall}
    if ComparisonVerdict.HIGHER in verdicts and ComparisonVerdict.LOWER not in verdicts:
        return TrialVerdict.HELPS
    if ComparisonVerdict.LOWER in verdicts and ComparisonVerdict.HIGHER not in verdicts:
        return TrialVerdict.HURTS
    return TrialVerdict.NOT_SHOWN
