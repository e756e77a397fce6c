"""`cupel workspaces`: create workspaces, with the token of an operator."""

from typing import Annotated

import typer

from cupel.commands.options import AsJson
from cupel.commands.tokens import print_secret
from cupel.session import Session
from cupel.terminal import format_time

app = typer.Typer(help="Create workspaces, with the token of an operator.", no_args_is_help=True)

WorkspaceName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the workspace, such as team-a.")]


@app.command()
def create(ctx: typer.Context, name: WorkspaceName, as_json: AsJson = False) -> None:
    """Create a workspace, and its first admin token, which is shown only once."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        created = client.create_workspace(name)
    print_secret(session, created if as_json else created["token"], as_json=as_json)


@app.command()
def show(ctx: typer.Context, name: WorkspaceName, as_json: AsJson = False) -> None:
    """Show when an operator created a workspace."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        workspace = client.get_workspace(name)
    if as_json:
        session.print_json(workspace)
    else:
        session.out.print(f"{workspace['name']} created {format_time(workspace['createdAt'])}", markup=False)
