"""Differences of pass rates that are corrected for the judges' errors, beside those of a comparison.

Labels are given after a comparison was computed, so these differences are not stored with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cupel_core.analysis.judge_accuracy import judge_accuracy
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.domain.analysis.comparison_requests import ComparisonSpec, SideSpec
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.calibration.corrected_differences import corrected_difference
from cupel_core.domain.calibration.corrected_rates import CorrectedRate
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy
from cupel_core.domain.runs.run import Run


class CorrectedComparisons:
    """Adds corrected differences to the figures of comparisons. The accuracy of each run's judge is read once."""

    def __init__(self) -> None:
        self._known = dict[tuple[str, str | None], Mapping[int, JudgeAccuracy]]()

    def add(self, figures: Mapping[str, Any], spec: ComparisonSpec, runs: Sequence[Run]) -> dict[str, Any]:
        """Return the figures with a `correctedDifference` in each row whose pass rates can all be corrected, on both
        sides.

        Corrected rates are those of all scenarios of a run, and errors have no labels. So there is no such difference
        if a side has scenarios that the other has not, or if errors count as failures.
        """
        is_unpaired = figures["onlyBaseline"] or figures["onlyComparison"]
        if figures["metric"] != Metric.PASS_RATE or is_unpaired:
            return dict(figures)
        by_id = {run.id: run for run in runs}
        sides = {
            "baseline": self._rates(by_id[spec.baseline.run_id], spec.baseline),
            "comparison": self._rates(by_id[spec.comparison.run_id], spec.comparison),
        }
        overall = figures["overall"]
        return {
            **figures,
            "rows": [_with_difference(row, sides) for row in figures["rows"]],
            "overall": overall and _with_difference(overall, sides),
        }

    def _rates(self, run: Run, side: SideSpec) -> Mapping[tuple[str, str | None], CorrectedRate]:
        """Return the corrected pass rates by target and prompt."""
        key = run.id, side.rescore_id
        if key not in self._known:
            self._known[key] = judge_accuracy(counted_inputs(run, side.rescore_id))
        columns = run.plan.columns
        return {
            (columns[number].target_id, columns[number].prompt_id): each.rate
            for number, each in self._known[key].items()
            if each.rate is not None
        }


def _with_difference(
    row: Mapping[str, Any], sides: Mapping[str, Mapping[tuple[str, str | None], CorrectedRate]]
) -> dict[str, Any]:
    rates = {
        name: [found.get((column["targetId"], column["promptId"])) for column in row[name]]
        for name, found in sides.items()
    }
    baseline, comparison = ([rate for rate in rates[name] if rate is not None] for name in ("baseline", "comparison"))
    if not baseline or not comparison or len(baseline) + len(comparison) < sum(map(len, rates.values())):
        return dict(row)
    found = corrected_difference(comparison, baseline)
    corrected = {
        "baseline": _mean_rate(baseline),
        "comparison": _mean_rate(comparison),
        "difference": found.value,
        "interval": found.interval,
    }
    return {**row, "correctedDifference": corrected}


def _mean_rate(rates: Sequence[CorrectedRate]) -> float:
    return sum(each.rate for each in rates) / len(rates)
