from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.confirmation import start_confirmed
from cupel.commands.options import AsJson, StartAnyway
from cupel.commands.request_options import with_settings
from cupel.commands.resources import ResourceCommands
from cupel.commands.run import check_definition_version, definition_of
from cupel.commands.targets import warn_about_models, warn_about_unlisted_models, with_profile_id
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.request_fields import fields_of
from cupel.resource_names import REFERENCES, ResourceNames
from cupel.session import Session
from cupel.source_files import renamed_fields
from cupel.tables import table
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE, format_time, shorten

app = typer.Typer(help="List, show, create, update, enable, disable and delete schedules.", invoke_without_command=True)

EvalId = Annotated[str | None, typer.Option("--eval", help="The id of an eval, instead of a definition and --models.")]
Cron = Annotated[str | None, typer.Option(help="A cron expression with six fields, such as '0 9 ? * MON-FRI *'.")]
Rate = Annotated[str | None, typer.Option(help="An interval, such as '6 hours'.")]
At = Annotated[str | None, typer.Option(help="A single time, such as 2027-01-31T09:30:00.")]
ScheduleId = Annotated[str, typer.Argument(metavar="SCHEDULE", help="The id of a schedule, such as sch_01jd3v….")]


RESOURCE = ResourceCommands(app, "schedule", lambda _: _table, ScheduleId)
RESOURCE.list_by_default()


@app.command()
def show(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Show a schedule, what it starts, and its most recent firings."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        schedule = client.get_schedule(schedule_id)
        if as_json:
            session.print_json(schedule)
            return
        started = schedule["run"] or schedule["evalRun"]
        lines = [*_started_lines(started, TargetNames(client), ResourceNames(client))]
    _print(session, schedule, as_json=False)
    for line in lines:
        session.out.print(line, markup=False, soft_wrap=True)
    firings = table("due", "run", "error", texts=["error"])
    for firing in schedule["firings"]:
        firings.add_row(*map(escape, _firing_cells(firing)))
    session.out.print(firings)


@app.command()
@with_settings("CreateRun", names={"name": "--run-name"})
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Option(help="Name of the schedule.")],
    definition: Annotated[
        str | None, typer.Argument(metavar="DEFINITION", help="A definition file (YAML), or the id of a definition.")
    ] = None,
    eval_id: EvalId = None,
    cron: Cron = None,
    rate: Rate = None,
    at: At = None,
    timezone: Annotated[str, typer.Option(help="Time zone of --cron and --at, such as Europe/Berlin.")] = "UTC",
    yes: StartAnyway = False,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Create a schedule, which starts one run of a definition or of an eval each time it is due."""
    session = ctx.ensure_object(Session)
    when = {"name": name, "expression": _expression(cron, rate, at), "timezone": timezone}
    has_targets = "models" in settings or "targets" in settings
    if (definition is None) == (eval_id is None) or (eval_id is None) != has_targets:
        raise UsageError("specify either a definition and --models, or --eval")
    check_definition_version(settings, [] if definition is None else [definition])
    warn_about_models(session, settings)
    with session.connect() as client:
        run = with_profile_id(client, settings)

        def create_with(field: str, body: Json) -> Json:
            return start_confirmed(
                session, lambda agreed: client.create_schedule({**when, field: {**body, **agreed}}), yes=yes
            )

        if eval_id is not None:
            _warn_about_models_of_eval(session, client.get_eval(eval_id), run["config"])
            of_eval = {field: value for field, value in run.items() if field in fields_of("CreateEvalRun")}
            created = create_with("evalRun", {**of_eval, "config": run["config"], "evalId": eval_id})
        else:
            with ExitStack() as stack:
                with renamed_fields(lambda field: f"run.{field}"):
                    resolved = stack.enter_context(definition_of(session, client, [definition or ""], run))
                created = create_with("run", {**run, **resolved})
    _print(session, created, as_json=as_json)


@app.command()
def update(
    ctx: typer.Context,
    schedule_id: ScheduleId,
    name: Annotated[str | None, typer.Option(help="Name of the schedule.")] = None,
    cron: Cron = None,
    rate: Rate = None,
    at: At = None,
    timezone: Annotated[str | None, typer.Option(help="Time zone of --cron and --at.")] = None,
    as_json: AsJson = False,
) -> None:
    """Update the name of a schedule, or when it is due."""
    session = ctx.ensure_object(Session)
    expression = None if (cron, rate, at) == (None, None, None) else _expression(cron, rate, at)
    changes = without_none(name=name, expression=expression, timezone=timezone)
    if not changes:
        raise UsageError("specify what to change: --name, --cron, --rate, --at or --timezone")
    with session.connect() as client:
        changed = client.update_schedule(schedule_id, changes)
    _print(session, changed, as_json=as_json)


@app.command()
def enable(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Enable a schedule."""
    _set_enabled(ctx.ensure_object(Session), schedule_id, enabled=True, as_json=as_json)


@app.command()
def disable(ctx: typer.Context, schedule_id: ScheduleId, as_json: AsJson = False) -> None:
    """Disable a schedule: it starts no runs until it is enabled again."""
    _set_enabled(ctx.ensure_object(Session), schedule_id, enabled=False, as_json=as_json)


RESOURCE.add_delete("Delete a schedule. The runs it started are kept.")


def _warn_about_models_of_eval(session: Session, saved: Json, config: Json) -> None:
    roles = ("judgeModel", "personaModel", "embeddingModel")
    warn_about_unlisted_models(session, [saved["model"], *(saved[role] for role in roles if role not in config)])


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


def _started_lines(started: Json, targets: TargetNames, names: ResourceNames) -> Iterator[str]:
    chosen = {field: [targets.of(each) for each in ids] for field, ids in _targets_of(started).items()}
    for field, value in {**started, **started["config"], **chosen}.items():
        if field == "config" or value in (None, "", [], {}):
            continue
        if field in REFERENCES:
            yield f"{REFERENCES[field]}: {names.with_id(field, value)}"
        else:
            yield f"{field}: {', '.join(map(str, value)) if isinstance(value, list) else value}"


def _targets_of(started: Json) -> dict[str, list[str]]:
    return {
        "models": list(started.get("models") or ()),
        "targets": [target["id"] for target in started.get("targets") or ()],
    }


def _table(schedules: Iterable[Json]) -> Table:
    headings = ("schedule", "name", "when", "time zone", "status", "last due", "last run", "error")
    columns = table(*headings, texts=["name", "error"])
    for schedule in schedules:
        columns.add_row(*map(escape, _cells(schedule)))
    return columns


def _cells(schedule: Json) -> list[str]:
    firing = _firing_cells(schedule["firings"][0]) if schedule["firings"] else [NO_VALUE] * 3
    return [*(schedule[key] for key in ("id", "name", "expression", "timezone", "status")), *firing]


def _firing_cells(firing: Json) -> list[str]:
    error = shorten(firing["error"], 80) if firing["error"] else NO_VALUE
    return [format_time(firing["scheduledTime"]), firing["runId"] or NO_VALUE, error]
