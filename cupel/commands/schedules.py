"""`cupel schedules`: runs that start on a schedule."""

from typing import Annotated

import typer
from rich.markup import escape

from cupel import render
from cupel.commands.options import AsJson, refuse_group_options
from cupel.commands.run import resolve_definition_id, split_models
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.session import Session

app = typer.Typer(help="List, create, enable, disable and delete schedules.", invoke_without_command=True)

ScheduleId = Annotated[str, typer.Argument(metavar="SCHEDULE", help="The id of a schedule, such as sch_01jd3v….")]


@app.callback()
def schedules(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List, create, enable, disable and delete schedules, which start runs."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        items = list(client.list_schedules())
    if as_json:
        session.print_json(items)
        return
    columns = render.table("schedule", "name", "when", "time zone", "status", "last due", "run")
    for schedule in items:
        columns.add_row(*map(escape, _cells(schedule)))
    session.out.print(columns)


@app.command()
def create(
    ctx: typer.Context,
    definition: Annotated[
        str, typer.Argument(metavar="DEFINITION", help="A definition file (YAML), or the id of a definition.")
    ],
    models: Annotated[
        list[str], typer.Option(help="Targets: provider/name or connector/…; comma-separated or repeated.")
    ],
    name: Annotated[str, typer.Option(help="Name of the schedule.")],
    cron: Annotated[
        str | None, typer.Option(help="A cron expression with six fields, such as '0 9 ? * MON-FRI *'.")
    ] = None,
    rate: Annotated[str | None, typer.Option(help="An interval, such as '6 hours'.")] = None,
    at: Annotated[str | None, typer.Option(help="A single time, such as 2027-01-31T09:30:00.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone of --cron and --at, such as Europe/Berlin.")] = "UTC",
    sample: Annotated[int, typer.Option(min=1, max=100, help="Percentage of the scenarios to run.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Seed of the sample; default: random for each run.")] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Conversations per target, scenario and persona.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Create a schedule, which starts one run each time it is due."""
    session = ctx.ensure_object(Session)
    run = {"models": split_models(models), "samplePercentage": sample, "repeats": repeats}
    if seed is not None:
        run["sampleSeed"] = seed
    when = {"name": name, "expression": _expression(cron, rate, at), "timezone": timezone}
    with session.connect() as client:
        run["definitionId"] = resolve_definition_id(session, client, definition)
        created = client.create_schedule({**when, "run": run})
    _print(session, created, as_json=as_json)


@app.command()
def enable(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Enable a schedule."""
    _set_enabled(ctx.ensure_object(Session), schedule_id, enabled=True, as_json=as_json)


@app.command()
def disable(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Disable a schedule: it starts no runs until it is enabled again."""
    _set_enabled(ctx.ensure_object(Session), schedule_id, enabled=False, as_json=as_json)


@app.command()
def delete(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Delete a schedule. The runs it started are kept."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_schedule(schedule_id)
    if as_json:
        session.print_json({"id": schedule_id, "deleted": True})
    else:
        session.out.print(f"deleted {schedule_id}", markup=False)


def _expression(cron: str | None, rate: str | None, at: str | None) -> str:
    expressions = [
        f"{kind}({value})" for kind, value in (("cron", cron), ("rate", rate), ("at", at)) if value is not None
    ]
    if len(expressions) != 1:
        raise UsageError("specify exactly one of --cron, --rate and --at")
    return expressions[0]


def _set_enabled(session: Session, schedule_id: str, *, enabled: bool, as_json: bool) -> None:
    with session.connect() as client:
        changed = client.update_schedule(schedule_id, {"enabled": enabled})
    _print(session, changed, as_json=as_json)


def _print(session: Session, schedule: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(schedule)
    else:
        text = f"{schedule['id']} {schedule['expression']} {schedule['timezone']} {schedule['status']}"
        session.out.print(text, markup=False, soft_wrap=True)


def _cells(schedule: Json) -> list[str]:
    last = next(iter(schedule["firings"]), None)
    started = (last["runId"] or render.shorten(last["error"], 80)) if last else render.NO_VALUE
    due = render.format_time(last and last["scheduledTime"])
    return [*(schedule[key] for key in ("id", "name", "expression", "timezone", "status")), due, started]
