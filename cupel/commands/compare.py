"""`cupel compare`, `comparisons` and `jobs` show differences between runs, targets or prompts, and their
significance."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render_comparison
from cupel.commands.gate_options import AllowInconclusive, Alpha, Margin, print_verdict
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson
from cupel.comparing import ComparisonGate, FailIf, detectable_drops
from cupel.comparing import compare as compute
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.resource_names import ResourceNames
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.metrics import Metric

if TYPE_CHECKING:
    from cupel.client import Client

app = typer.Typer(no_args_is_help=True, help="Show and delete stored comparisons of runs.")

ComparisonId = Annotated[str, typer.Argument(metavar="COMPARISON", help="The id of a comparison, such as cmp_5d41….")]
Scenarios = Annotated[
    int, typer.Option("--scenarios", min=0, max=10_000, help="How many of the most changed scenarios to show.")
]
FailIfOption = Annotated[
    list[FailIf] | None,
    typer.Option("--fail-if", help="Exit with 1 if a target's verdict is of this kind; may be repeated."),
]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only those of this run.")]


def compare(
    ctx: typer.Context,
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The run to compare with.")],
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="The run to compare; default: the baseline's own targets.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Compare only this target; may be repeated.")
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option("--against", help="The baseline's target to compare with; may be repeated.")
    ] = None,
    prompt: Annotated[list[str] | None, typer.Option("--prompt", help="Compare only this prompt.")] = None,
    against_prompt: Annotated[
        list[str] | None, typer.Option("--against-prompt", help="The baseline's prompt to compare with.")
    ] = None,
    rescore: Annotated[
        str | None, typer.Option("--rescore", help="Compare with the results of this rescore instead of the run's own.")
    ] = None,
    against_rescore: Annotated[
        str | None, typer.Option("--against-rescore", help="The baseline's rescore to compare with.")
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(case_sensitive=False, help="Default: decisions if there are any, else pass rates.")
    ] = None,
    margin: Margin = None,
    scenarios: Scenarios = 10,
    alpha: Alpha = None,
    fail_if: FailIfOption = None,
    allow_inconclusive: AllowInconclusive = False,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or targets or prompts of one run: differences, intervals, and whether they are significant."""
    session = ctx.ensure_object(Session)
    if run is None and not (model or prompt or rescore or against_rescore):
        raise UsageError("name a second run, targets of the run with --model and --against, or a --rescore")
    has_same_columns = bool(run or rescore or against_rescore)
    request = {
        "baseline": _side(
            baseline,
            against or (model if has_same_columns else None),
            against_prompt or (prompt if has_same_columns else None),
            against_rescore,
        ),
        "comparison": _side(run or baseline, model, prompt, rescore),
        **without_none(metric=metric, margin=margin, alpha=alpha),
    }
    with session.connect() as client:
        comparison = compute(session, client, request)
        _print(session, client, comparison, scenarios, as_json=as_json)
    if not fail_if:
        return
    figures = TargetNames(client).in_figures(comparison["figures"])
    for drop in detectable_drops(figures):
        session.remark(drop)
    violations = ComparisonGate(frozenset(fail_if), allow_inconclusive=allow_inconclusive).violations(figures)
    print_verdict(session, violations)
    if violations:
        raise typer.Exit(1)


@app.command("list")
def list_comparisons(
    ctx: typer.Context, run: OfRun = None, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False
) -> None:
    """List comparisons, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_comparisons(run_id=run)
        names = ResourceNames(client)
        rendered = partial(render_comparison.comparisons_table, names=names)
        print_list(session, listed, limit, rendered, as_json=as_json)


@app.command()
def show(ctx: typer.Context, comparison: ComparisonId, scenarios: Scenarios = 10, as_json: AsJson = False) -> None:
    """Show the figures of a comparison."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print(session, client, client.get_comparison(comparison), scenarios, as_json=as_json)


@app.command()
def delete(ctx: typer.Context, comparison: ComparisonId, as_json: AsJson = False) -> None:
    """Delete a comparison; its runs stay."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_comparison(comparison)
    session.print_deleted(comparison, as_json=as_json)


def jobs(
    ctx: typer.Context,
    run: OfRun = None,
    status: Annotated[JobStatus | None, typer.Option(case_sensitive=False, help="Only jobs with this status.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List queued computations, such as comparisons, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_jobs(run_id=run, status=status)
        print_list(session, listed, limit, render_comparison.jobs_table, as_json=as_json)


def print_comparison(session: Session, figures: Json) -> None:
    session.out.print(render_comparison.rows_table(figures))
    for note in render_comparison.notes(figures):
        session.out.print(note, markup=False, soft_wrap=True)
    if (ratios := render_comparison.ratios_table(figures)) is not None:
        session.out.print()
        session.out.print(ratios)
        session.out.print(render_comparison.RATIOS_NOTE, markup=False, soft_wrap=True)
    for note in render_comparison.ratio_notes(figures):
        session.out.print(note, markup=False, soft_wrap=True)
    if (operations := render_comparison.operations_table(figures)) is not None:
        session.out.print()
        session.out.print(operations)
        session.out.print(render_comparison.OPERATIONS_NOTE, markup=False, soft_wrap=True)


def _print(session: Session, client: "Client", comparison: Json, scenarios: int, *, as_json: bool) -> None:
    figures = comparison["figures"]
    changed = client.list_comparison_scenarios(comparison["id"]).first(scenarios) if figures and scenarios else []
    if as_json:
        session.print_json({**comparison, "scenarios": changed})
    elif figures is None:
        session.out.print(render_comparison.comparisons_table([comparison], ResourceNames(client)))
    else:
        figures = TargetNames(client).in_figures(figures)
        print_comparison(session, figures)
        if any(each["difference"] for each in changed):
            session.out.print()
            session.out.print(render_comparison.scenarios_table(figures, changed))
            session.out.print(render_comparison.changes_line(figures, changed), markup=False, soft_wrap=True)


def _side(run_id: str, targets: list[str] | None, prompts: list[str] | None, rescore: str | None) -> Json:
    return {"runId": run_id, **without_none(targets=targets or None, prompts=prompts or None, rescoreId=rescore)}
