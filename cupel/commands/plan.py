"""`cupel plan`: how many scenarios and repeats a comparison needs to detect a difference."""

from collections.abc import Iterator
from typing import Annotated

import typer

from cupel.commands.options import AsJson
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.metrics import Metric, Trials
from cupel_core.domain.analysis.power import DifferenceVariance, PairedTrials, PlannedRun, plan_runs, variance_of
from cupel_core.domain.statistics import DECISION_CODES

_DEFAULT_SPREAD = {False: 1.0, True: 0.5**0.5}
"""Of a scenario's difference, without history: a point for decisions; for rates, the largest possible spread of the
difference of two independent answers."""


def plan(
    ctx: typer.Context,
    effect: Annotated[
        float, typer.Option(min=0.0001, help="The difference to detect: 0.25 points, or 0.05 for pass rates.")
    ],
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="An earlier run, from which the spread is estimated.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Of that run, this target …")] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="… compared with this one; default: the first two.")
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(case_sensitive=False, help="Default: decisions if there are any.")
    ] = None,
    spread: Annotated[
        float | None, typer.Option(min=0.0001, help="Standard deviation of the scenarios' differences, if you know it.")
    ] = None,
    targets: Annotated[int, typer.Option(min=1, max=200, help="Number of targets that are compared at once.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Plan a comparison: how many scenarios and repeats detect a difference with a chance of 80 %."""
    session = ctx.ensure_object(Session)
    if run is not None and spread is not None:
        raise UsageError("--spread: is estimated from --run; give one of them")
    if run is None:
        metric = metric or Metric.DECISION
        differences = DifferenceVariance((spread or _DEFAULT_SPREAD[metric.is_rate]) ** 2, 0.0)
        source = "as given" if spread else "assumed, without an earlier run"
    else:
        metric, differences = _estimated(session, run, model, against, metric)
        source = f"as in {run}"
    planned = list(plan_runs(effect, differences, tests=targets))
    document = {
        "metric": str(metric),
        "effect": effect,
        "varianceBetweenScenarios": differences.between,
        "varianceWithinScenarios": differences.within,
        "plans": [{"repeats": each.repeats, "scenarios": each.scenarios, "probes": each.probes} for each in planned],
    }
    if as_json:
        session.print_json(document)
        return
    _print(session, planned)
    within = f", of single answers {differences.within**0.5:.2f}" if differences.within else ""
    session.out.print(
        f"To detect a difference of {effect:g} ({metric.lower()}) with a chance of 80 %. "
        f"Standard deviation of scenarios' differences {differences.between**0.5:.2f}{within}, {source}.",
        markup=False,
        soft_wrap=True,
    )


def _print(session: Session, planned: list[PlannedRun]) -> None:
    numbers = ["repeats", "scenarios", "probes per target"]
    columns = table(*numbers, right=numbers)
    for each in planned:
        columns.add_row(
            f"{each.repeats:,}",
            NO_VALUE if each.scenarios is None else f"{each.scenarios:,}",
            NO_VALUE if each.probes is None else f"{each.probes:,}",
        )
    session.out.print(columns)


def _estimated(
    session: Session, run: str, model: str | None, against: str | None, metric: Metric | None
) -> tuple[Metric, DifferenceVariance]:
    with session.connect() as client:
        rows = list(client.list_run_cases(run))
    names = list(dict.fromkeys(cell["targetId"] for row in rows for cell in row["cells"]))
    first, second = _sides(names, model, against)
    metric = metric or _metric_of(rows)
    differences = variance_of(_pairs(rows, metric, first, second))
    if differences is None:
        raise UsageError(f"{run}: fewer than five scenarios have results of both targets")
    return metric, differences


def _sides(names: list[str], model: str | None, against: str | None) -> tuple[str, str]:
    """The baseline's target and the other; of a run with a single one, repeats alone say how much answers vary."""
    for option, name in (("--model", model), ("--against", against)):
        if name is not None and name not in names:
            raise UsageError(f"{option}: the run has no target {name!r}; it has {', '.join(names)}")
    first = against or next((name for name in names if name != model), names[0])
    second = model or next((name for name in names if name != first), first)
    if first == second:
        raise UsageError("the run has a single target: name a run with two, or give --spread")
    return first, second


def _metric_of(rows: list[Json]) -> Metric:
    decided = any(cell["decisions"].get(code) for row in rows for cell in row["cells"] for code in DECISION_CODES)
    return Metric.DECISION if decided else Metric.PASS_RATE


def _pairs(rows: list[Json], metric: Metric, first: str, second: str) -> Iterator[PairedTrials]:
    """One per case, with the first prompt of either target."""
    for row in rows:
        cells = {cell["targetId"]: cell for cell in reversed(row["cells"])}
        yield PairedTrials(_trials(metric, cells[first]), _trials(metric, cells[second]))


def _trials(metric: Metric, cell: Json) -> Trials:
    match metric:
        case Metric.PASS_RATE:
            return Trials(cell["judged"], cell["passed"], cell["passed"])
        case Metric.OTHER_RATE:
            other = cell["decisions"].get("other", 0)
            return Trials(cell["completed"], other, other)
        case Metric.DECISION:
            counts = {int(code): cell["decisions"].get(code, 0) for code in DECISION_CODES}
            total = sum(code * count for code, count in counts.items())
            return Trials(sum(counts.values()), total, sum(code * code * count for code, count in counts.items()))
