"""`cupel budget`: show, raise and lower the budgets of runs."""

from typing import Annotated

import typer

from cupel import render
from cupel.commands.options import AsJson, RunId
from cupel.json_types import Json
from cupel.session import Session

app = typer.Typer(help="Show, raise and lower the budgets of runs.", no_args_is_help=True)


@app.command()
def show(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Show what is used of a run's budget."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_budget(session, client.get_run_budget(run_id), as_json=as_json)


@app.command("raise")
def raise_budget(
    ctx: typer.Context,
    run_id: RunId,
    to: Annotated[float, typer.Option(metavar="USD", help="The new budget in all, in US dollars; may be lower, too.")],
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Resume the run if it is paused because of its budget.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Raise or lower a run's budget; a run that it has paused resumes."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _print_budget(session, client.update_run_budget(run_id, to, resume=resume), as_json=as_json)


def _print_budget(session: Session, budget: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(budget)
        return
    for line in render.budget_lines(budget):
        session.out.print(line, soft_wrap=True)
