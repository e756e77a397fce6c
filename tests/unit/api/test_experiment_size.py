"""The summary of an experiment fits into a response, however many runs and targets it has."""

from typing import Any

from cupel_core.analysis.experiments import ExperimentSummary, PendingRun
from cupel_core.analysis.responses import MAX_ROWS, experiment_summary
from cupel_core.domain.analysis.experiments import Experiment, ExperimentDesign, ExperimentRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from tests.started_runs import NOW

MAX_BYTES = 6_000_000
"""Of a response, in which quotes are escaped."""
_ID = "x" * 26
FIGURES: dict[str, Any] = {
    "scenarios": 10_000,
    "baselineMean": 3.1234567890123456,
    "comparisonMean": 3.1234567890123456,
    "difference": -0.1234567890123456,
    "interval": [-0.1234567890123456, -0.1234567890123456],
}


def row(number: int) -> ExperimentRow:
    p, verdict = 0.1234567890123456, ComparisonVerdict.NOT_COMPARABLE
    target = f"{number}{'t' * 200}"
    return ExperimentRow(f"run_{_ID}", f"cmp_{_ID}", target, Metric.OTHER_RATE, FIGURES, 0.05, p, verdict)


def test_a_summary_of_the_most_runs_and_targets_fits() -> None:
    experiment = Experiment(f"exp_{_ID}", "e", ExperimentDesign("h" * 5_000), NOW, NOW)
    pending = [PendingRun(f"run_{_ID}", "w" * 500)] * 100
    rows = [row(number) for number in range(100 * 100)]
    answer = experiment_summary(ExperimentSummary(experiment, [], rows, pending, ["prompt"], None))
    json = answer.model_dump_json(by_alias=True)
    assert len(json) + json.count('"') < MAX_BYTES
    assert (answer.row_count, len(answer.rows), answer.rows[-1].target) == (10_000, MAX_ROWS, rows[-1].target)
