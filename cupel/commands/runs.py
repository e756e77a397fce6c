from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_items
from cupel.commands.options import (
    After,
    AsJson,
    Before,
    OldestFirst,
    RunId,
    creation_filters,
    metadata_of,
    refuse_group_options,
)
from cupel.commands.request_options import with_settings
from cupel.commands.suggestions import choice_option
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel_core.domain.runs.run import RunStatus

if TYPE_CHECKING:
    from cupel.client import Client

app = typer.Typer(help="List runs; change the name, tags and metadata of one.", invoke_without_command=True)


@app.callback()
def runs(
    ctx: typer.Context,
    definition: Annotated[str | None, typer.Option(help="Only runs of this definition.")] = None,
    status: Annotated[
        RunStatus | None,
        choice_option(RunStatus, "STATUS", "Only runs in this status, such as running."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Only runs whose name contains this, ignoring case.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only runs with this tag.")] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only runs with this entry of metadata; may be repeated."),
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="Only runs of this experiment.")] = None,
    eval_id: Annotated[str | None, typer.Option("--eval", help="Only runs of this eval.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Only runs that this schedule started.")] = None,
    after: After = None,
    before: Before = None,
    oldest_first: OldestFirst = False,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first; `update` changes the name, tags and metadata of one."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        times = creation_filters(after, before, oldest_first=oldest_first)
        owners = {"definition_id": definition, "experiment_id": experiment}
        of = {**owners, "eval_id": eval_id, "schedule_id": schedule}
        entries = metadata_of(metadata)
        listed = client.list_runs(**of, status=status, name=name, tag=tag, metadata=entries, **times)
        items = listed.first(limit)
        if not items and definition is not None:
            client.get_definition(definition)  # An unknown id is an error, not an empty list.
        print_items(session, items, lambda found: render.runs_table(_named(client, found)), as_json=as_json)


def _named(client: "Client", runs: Sequence[Json]) -> list[Json]:
    names = TargetNames(client)
    targets = ([names.of(target["id"]) for target in run["config"]["targets"]] for run in runs)
    configs = ({**run["config"], "models": named} for run, named in zip(runs, targets, strict=True))
    return [{**run, "config": config} for run, config in zip(runs, configs, strict=True)]


@app.command()
@with_settings("UpdateRun")
def update(
    ctx: typer.Context,
    run_id: RunId,
    clear: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Remove the name, tags or metadata; may be repeated.")
    ] = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Change a run's name, tags and metadata. --tag replaces all tags, and --metadata all metadata."""
    session = ctx.ensure_object(Session)
    changes = {field: _cleared(field) for field in clear or ()} | settings
    if not changes:
        raise UsageError("specify what to change: --name, --tag, --metadata or --clear")
    with session.connect() as client:
        run = client.update_run(run_id, changes)
    if as_json:
        session.print_json(run)
        return
    for line in render.run_lines(run):
        session.out.print(line, soft_wrap=True)


def _cleared(field: str) -> object:
    empty: dict[str, object] = {"name": None, "tags": [], "metadata": {}}
    if field not in empty:
        raise UsageError(f"--clear: {field}: expected {', '.join(empty)}")
    return empty[field]
