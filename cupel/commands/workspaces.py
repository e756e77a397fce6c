from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson
from cupel.commands.resources import ResourceCommands
from cupel.commands.tokens import print_secret
from cupel.commands.written_files import written_file
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import format_time

app = typer.Typer(help="List, create, erase and export workspaces.", invoke_without_command=True)

WorkspaceName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the workspace, such as team-a.")]


RESOURCE = ResourceCommands(app, "workspace", lambda _: _table, WorkspaceName)
RESOURCE.list_by_default()
RESOURCE.add_list("List the workspaces that operators have created or erased, by name.")


@app.command()
def create(ctx: typer.Context, name: WorkspaceName, as_json: AsJson = False) -> None:
    """Create a workspace, and its first admin token, which is shown only once."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        created = client.create_workspace(name)
    print_secret(session, created if as_json else created["token"], as_json=as_json)


RESOURCE.add_show_in_table("Show when an operator created or erased a workspace.")


@app.command()
def erase(
    ctx: typer.Context,
    name: WorkspaceName,
    confirmed: Annotated[
        str | None, typer.Option("--confirm", metavar="NAME", help="Its name once more; without it you are asked.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Erase a workspace with everything in it. It cannot be undone. The token must be one of another workspace."""
    session = ctx.ensure_object(Session)
    if confirmed is None:
        confirmed = typer.prompt("Everything in it is erased. Repeat its name", err=True)
    if confirmed != name:
        raise UsageError(f"--confirm: {confirmed} is not the workspace to erase, {name}")
    with session.connect() as client:
        client.erase_workspace(name)
    if as_json:
        session.print_json({"name": name, "erased": True})
    else:
        session.out.print(f"erasing {name}; nobody can read it any more", markup=False)


@app.command()
def export(
    ctx: typer.Context,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The ZIP file to write.")],
    as_json: AsJson = False,
) -> None:
    """Write what is in your own workspace to a ZIP file of JSON Lines, with the token of an admin.

    Secrets and deleted things are not in it.
    """
    from cupel.exports import workspace

    session = ctx.ensure_object(Session)
    with session.connect() as client, written_file(output) as unfinished:
        manifest = workspace.write(client, unfinished, datetime.now(UTC))
    if as_json:
        session.print_json({**manifest, "output": str(output)})
        return
    counts = manifest["counts"]
    shown = ", ".join(count_of(counts[f"{kind}s"], kind) for kind in ("definition", "run", "transcript"))
    session.out.print(f"{output}: {shown}, and {len(counts) - 3} other kinds", markup=False)


def _table(listed: Iterable[Json]) -> Table:
    columns = table("workspace", "created", "erased", "nothing left since")
    for each in listed:
        times = (each["createdAt"], each["erasedAt"], each["erasureCompletedAt"])
        columns.add_row(each["name"], *map(format_time, times))
    return columns
