"""How much the scenarios of an earlier run differ in the difference of two targets, from its stored figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from cupel.columns import RunColumn, columns_of
from cupel.commands.analyze import current_analysis
from cupel.comparing import compare
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.power import DifferenceVariance
from cupel_core.domain.analysis.variability import LARGEST_VARIANCE
from cupel_core.domain.statistics import MIN_SCENARIOS

if TYPE_CHECKING:
    from cupel.client import Client


class RunSpread(NamedTuple):
    metric: Metric
    differences: DifferenceVariance
    personas: float
    """Per scenario, on average; 1 if it has none."""
    scenarios: int
    """The differences are the upper bound of what these have shown."""


def spread_of_run(
    session: Session, client: "Client", run_id: str, model: str | None, against: str | None, metric: Metric | None
) -> RunSpread:
    """Of two of its targets: the comparison says how much scenarios differ, the analysis how much repeats do.

    No case is read: both are computed from the counts of the run. Raises UsageError for targets that it has not.
    """
    run = client.get_run(run_id)
    columns = columns_of(run)
    names = list(dict.fromkeys(column.target for column in columns))
    first, second = (_first_column(columns, name) for name in _sides(names, model, against))
    sides = {"baseline": _side(run_id, first), "comparison": _side(run_id, second)}
    figures = compare(session, client, {**sides, **without_none(metric=metric)})["figures"]
    row = figures["rows"][0]
    if row["scenarios"] < MIN_SCENARIOS or row["standardError"] is None:
        raise UsageError(f"{run_id}: fewer than five scenarios have results of both targets")
    found, repeats = Metric(figures["metric"]), run["config"]["repeats"]
    answers = run["progress"]["total"] / (len(columns) * run["scenarioCount"])
    within = 0.0 if repeats == 1 else _noise(current_analysis(session, client, run_id), found, first, second)
    total = row["standardError"] ** 2 * row["scenarios"]
    differences = DifferenceVariance.of_pilot(total, within, answers, row["scenarios"])
    return RunSpread(found, differences, answers / repeats, row["scenarios"])


def _noise(analysis: Json, metric: Metric, *columns: RunColumn) -> float:
    """The variance of single answers of both targets together; 0 if the analysis is of another metric."""
    figures = analysis["figures"]
    if figures is None or figures["metric"] != metric:
        return 0.0
    found: Mapping[tuple[str, str | None], float | None] = {
        (each["targetId"], each["promptId"]): each["consistency"] for each in figures["columns"]
    }
    consistencies = [found.get((column.target, column.prompt)) for column in columns]
    return sum(LARGEST_VARIANCE[metric.is_rate] * (1 - each) for each in consistencies if each is not None)


def _side(run_id: str, column: RunColumn) -> Json:
    return {"runId": run_id, "targets": [column.target], **({"prompts": [column.prompt]} if column.prompt else {})}


def _first_column(columns: list[RunColumn], target: str) -> RunColumn:
    """That of the first prompt."""
    return next(column for column in columns if column.target == target)


def _sides(names: list[str], model: str | None, against: str | None) -> tuple[str, str]:
    """The baseline's target and the other."""
    for option, name in (("--model", model), ("--against", against)):
        if name is not None and name not in names:
            raise UsageError(f"{option}: the run has no target {name!r}; it has {', '.join(names)}")
    first = against or next((name for name in names if name != model), names[0])
    second = model or next((name for name in names if name != first), first)
    if first == second:
        raise UsageError("the run has a single target: name a run with two, or give --spread")
    return first, second
