"""`cupel budget` shows, raises and lowers the budgets of runs, and those of the workspace for days and months."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import typer

from cupel import render
from cupel.commands.options import AsJson, RunId, parse_usd
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.render_scores import rescore_line
from cupel.session import Session

app = typer.Typer(help="Show and set the budgets of runs and of the workspace.", no_args_is_help=True)
_NONE = "none"


class Limit(NamedTuple):
    usd: float | None


def _parse_limit(text: str) -> Limit:
    if text.strip().lower() == _NONE:
        return Limit(None)
    try:
        return Limit(parse_usd(text))
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{error}, nor {_NONE}") from None


@app.command()
def show(
    ctx: typer.Context,
    run_id: Annotated[
        str | None, typer.Argument(metavar="RUN", help="The id of a run; without it, the workspace's budgets.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is used of a run's budget, or of the workspace's for today and this month."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        if run_id is not None:
            _print(session, client.get_run_budget(run_id), render.budget_lines, as_json=as_json)
        else:
            _print(session, client.get_budgets(), render.workspace_budget_lines, as_json=as_json)


@app.command("set")
def set_limits(
    ctx: typer.Context,
    day: Annotated[
        Limit | None,
        typer.Option("--day", parser=_parse_limit, metavar="USD", help="What all calls may cost per day, or none."),
    ] = None,
    month: Annotated[
        Limit | None,
        typer.Option("--month", parser=_parse_limit, metavar="USD", help="What all calls may cost per month, or none."),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option("--timezone", metavar="NAME", help="Time zone in which days begin, such as Europe/Berlin."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the workspace's budgets for days and months. Runs that would exceed one are paused until it has ended."""
    session = ctx.ensure_object(Session)
    options = without_none(dayUsd=day, monthUsd=month, timezone=timezone)
    if not options:
        raise UsageError("one of --day, --month and --timezone is needed")
    changes = {name: value.usd if isinstance(value, Limit) else value for name, value in options.items()}
    with session.connect() as client:
        client.update_settings({"budgets": changes})
        _print(session, client.get_budgets(), render.workspace_budget_lines, as_json=as_json)


@app.command("raise")
def raise_budget(
    ctx: typer.Context,
    run_id: RunId,
    to: Annotated[
        float,
        typer.Option(parser=parse_usd, metavar="USD", help="The new budget in all, in US dollars; may be lower, too."),
    ],
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Resume the run if it is paused because of its budget.")
    ] = True,
    rescore_id: Annotated[
        str | None,
        typer.Option("--rescore", help="Raise the budget of this rescore; if it has stopped it, it continues."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Raise or lower a run's budget; a run that it has paused resumes. Or raise that of a rescore."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        if rescore_id is not None:
            rescore = client.update_rescore_budget(run_id, rescore_id, to)
            _print(session, rescore, lambda found: [rescore_line(found)], as_json=as_json)
            return
        budget = client.update_run_budget(run_id, to, resume=resume)
        _print(session, budget, render.budget_lines, as_json=as_json)


def _print(session: Session, budget: Json, lines_of: Callable[[Json], list[str]], *, as_json: bool) -> None:
    if as_json:
        session.print_json(budget)
        return
    for line in lines_of(budget):
        session.out.print(line, soft_wrap=True)
