from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cupel.columns import RunColumn, columns_of
from cupel.commands.analyze import current_analysis
from cupel.commands.options import AsJson
from cupel.comparing import compare
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.comparison_plans import SECOND_LOOK, ComparisonPlan, PlanRequest
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.power import DifferenceVariance, PlannedRun
from cupel_core.domain.analysis.variability import LARGEST_VARIANCE
from cupel_core.domain.statistics import MIN_SCENARIOS

if TYPE_CHECKING:
    from cupel.client import Client

_OPTIONS = {"pilotScenarios": "pilot-scenarios"}


def plan(
    ctx: typer.Context,
    effect: Annotated[
        float, typer.Option(min=0.0001, max=4, help="The difference to detect: 0.25 points, or 0.05 for pass rates.")
    ],
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="An earlier run, from which the spread is estimated.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Of that run, this target …")] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="… compared with this one; default: the first two.")
    ] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="Of that run, this prompt …")] = None,
    against_prompt: Annotated[
        str | None,
        typer.Option("--against-prompt", help="… compared with this one; default: the first two of a single target."),
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(case_sensitive=False, help="Default: decisions if there are any.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The pass rate of one side, such as 0.95: the spread follows from it."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(min=0.0001, max=4, help="Standard deviation of the scenarios' differences, if you know it."),
    ] = None,
    pilot_scenarios: Annotated[
        int | None,
        typer.Option(min=2, help="The spread was estimated from so many scenarios: plan with its upper 80% bound."),
    ] = None,
    targets: Annotated[int, typer.Option(min=1, max=200, help="Number of targets that are compared at once.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Plan a comparison: how many scenarios and repeats detect a difference with a chance of 80%."""
    session = ctx.ensure_object(Session)
    if run is not None:
        for option, value in (("rate", rate), ("spread", spread), ("pilot-scenarios", pilot_scenarios)):
            if value is not None:
                raise UsageError(f"--{option}: is estimated from --run; give one of them")
        with session.connect() as client:
            found = spread_of_run(session, client, run, Pair(model, against, prompt, against_prompt), metric)
        planned = ComparisonPlan(
            found.metric, effect, found.differences, found.scenarios, targets=targets, personas=found.personas
        )
        source = f"as in {run}"
    else:
        request = PlanRequest(effect, metric, rate, spread, pilot_scenarios, targets)
        for field, why in request.violations:
            raise UsageError(f"--{_OPTIONS.get(field, field)}: {why}")
        planned = request.plan()
        source = "as given" if spread else "assumed, without an earlier run"
        if rate is not None:
            source = f"as for independent answers with a pass rate of {rate:g} on one side"
    if as_json:
        session.print_json(planned.document())
        return
    _print(session, planned.runs)
    for line in _notes(planned, source):
        session.out.print(line, markup=False, soft_wrap=True)


def _notes(planned: ComparisonPlan, source: str) -> Iterator[str]:
    differences = planned.differences
    within = f", of single answers {differences.within**0.5:.2f}" if differences.within else ""
    each = "" if planned.personas == 1 else f" Each scenario has {planned.personas:g} personas."
    bound = "" if planned.pilot_scenarios is None else f", the upper 80% bound from {planned.pilot_scenarios} scenarios"
    yield (
        f"These sizes detect a difference of {planned.effect:g} ({planned.metric.lower()}) with a chance of 80%. "
        f"Standard deviation of scenarios' differences: {differences.between**0.5:.2f}{within}, {source}{bound}.{each}"
    )
    yield SECOND_LOOK


def _print(session: Session, planned: list[PlannedRun]) -> None:
    numbers = ["repeats", "scenarios", "conversations per target"]
    columns = table(*numbers, right=numbers)
    for each in planned:
        columns.add_row(
            f"{each.repeats:,}",
            NO_VALUE if each.scenarios is None else f"{each.scenarios:,}",
            NO_VALUE if each.probes is None else f"{each.probes:,}",
        )
    session.out.print(columns)


class RunSpread(NamedTuple):
    metric: Metric
    differences: DifferenceVariance
    personas: float
    scenarios: int
    """The differences are upper bounds estimated from so many scenarios."""


class Pair(NamedTuple):
    """The names of the target and prompt that are compared, and of those they are compared with, if they are given."""

    model: str | None = None
    against: str | None = None
    prompt: str | None = None
    against_prompt: str | None = None

    def in_run(self, columns: Sequence[RunColumn]) -> tuple[RunColumn, RunColumn]:
        """Return the baseline and the column compared with it: the first two that differ in the target alone, or if
        there are none, in the prompt alone. Raises UsageError for unknown names."""
        targets = list(dict.fromkeys(column.target for column in columns))
        prompts = list(dict.fromkeys(column.prompt for column in columns if column.prompt))
        for option, name, known in (
            ("--model", self.model, targets),
            ("--against", self.against, targets),
            ("--prompt", self.prompt, prompts),
            ("--against-prompt", self.against_prompt, prompts),
        ):
            if name is not None and name not in known:
                kind = "target" if known is targets else "prompt"
                raise UsageError(f"{option}: the run has no {kind} {name!r}; it has {', '.join(known) or 'none'}")
        pairs = [
            (baseline, compared)
            for baseline in _matching(columns, self.against, self.against_prompt)
            for compared in _matching(columns, self.model, self.prompt)
            if baseline != compared
        ]
        if not pairs:
            raise UsageError("the run has nothing to compare: name a run with two targets or prompts, or give --spread")
        return min(pairs, key=lambda pair: (_differences(*pair), pair[0].target == pair[1].target))


def _matching(columns: Sequence[RunColumn], target: str | None, prompt: str | None) -> list[RunColumn]:
    return [each for each in columns if target in (None, each.target) and prompt in (None, each.prompt)]


def _differences(first: RunColumn, second: RunColumn) -> int:
    return (first.target != second.target) + (first.prompt != second.prompt)


def spread_of_run(session: Session, client: "Client", run_id: str, pair: Pair, metric: Metric | None) -> RunSpread:
    """Compare two columns: the comparison gives the spread of scenarios, the analysis that of repeats.

    No case is read: both are computed from the counts of the run. Raises UsageError for unknown names.
    """
    run = client.get_run(run_id)
    columns = columns_of(run)
    first, second = pair.in_run(columns)
    sides = {"baseline": _side(run_id, first), "comparison": _side(run_id, second)}
    figures = compare(session, client, {**sides, **without_none(metric=metric)})["figures"]
    row = figures["rows"][0]
    if row["scenarios"] < MIN_SCENARIOS or row["standardError"] is None:
        raise UsageError(f"{run_id}: fewer than five scenarios have results of both sides")
    found, repeats = Metric(figures["metric"]), run["config"]["repeats"]
    answers = run["progress"]["total"] / (len(columns) * run["scenarioCount"])
    within = 0.0 if repeats == 1 else _noise(current_analysis(session, client, run_id), found, first, second)
    total = row["standardError"] ** 2 * row["scenarios"]
    differences = DifferenceVariance.of_pilot(total, within, answers, row["scenarios"])
    return RunSpread(found, differences, answers / repeats, row["scenarios"])


def _noise(analysis: Json, metric: Metric, *columns: RunColumn) -> float:
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
