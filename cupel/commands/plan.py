"""`cupel plan`: how many scenarios and repeats a comparison needs to detect a difference."""

from typing import Annotated

import typer

from cupel.commands.options import AsJson
from cupel.commands.run_spread import spread_of_run
from cupel.errors import UsageError
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.power import DifferenceVariance, PlannedRun, plan_runs

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
    """Plan a comparison: how many scenarios and repeats detect a difference with a chance of 80%."""
    session = ctx.ensure_object(Session)
    if run is not None and spread is not None:
        raise UsageError("--spread: is estimated from --run; give one of them")
    if run is None:
        metric = metric or Metric.DECISION
        differences = DifferenceVariance((spread or _DEFAULT_SPREAD[metric.is_rate]) ** 2, 0.0)
        personas, source = 1.0, "as given" if spread else "assumed, without an earlier run"
    else:
        with session.connect() as client:
            metric, differences, personas = spread_of_run(session, client, run, model, against, metric)
        source = f"as in {run}"
    planned = list(plan_runs(effect, differences, tests=targets, personas=personas))
    document = {
        "metric": str(metric),
        "effect": effect,
        "varianceBetweenScenarios": differences.between,
        "varianceWithinScenarios": differences.within,
        "personasPerScenario": personas,
        "plans": [{"repeats": each.repeats, "scenarios": each.scenarios, "probes": each.probes} for each in planned],
    }
    if as_json:
        session.print_json(document)
        return
    _print(session, planned)
    within = f", of single answers {differences.within**0.5:.2f}" if differences.within else ""
    each = "" if personas == 1 else f" Each scenario has {personas:g} personas."
    session.out.print(
        f"To detect a difference of {effect:g} ({metric.lower()}) with a chance of 80%. "
        f"Standard deviation of scenarios' differences {differences.between**0.5:.2f}{within}, {source}.{each}",
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
