"""`cupel personas`, `connectors` and `evals`: what a workspace keeps under a name, each written as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cupel import render
from cupel.commands.options import AsJson
from cupel.environment import variable
from cupel.errors import WrongUse
from cupel.files import read_body
from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Collection

Id = Annotated[str, typer.Argument(metavar="ID")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="YAML or JSON, with the fields of the API.")]
HeaderEnv = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VARIABLE", help="A header whose value is in a variable, so that no file holds it."),
]


def _app(collection: "Collection", plural: str, columns: tuple[str, ...]) -> typer.Typer:
    """The commands of one kind; `columns` are the fields that its table shows after id and name."""
    app = typer.Typer(help=f"List, create, change and delete {plural}.", invoke_without_command=True)

    @app.callback()
    def listed(ctx: typer.Context, as_json: AsJson = False) -> None:
        if not ctx.invoked_subcommand:
            _list(ctx.ensure_object(Session), collection, columns, as_json=as_json)

    @app.command(help="Create one from a file.")
    def create(ctx: typer.Context, file: File, header_env: HeaderEnv = None, as_json: AsJson = False) -> None:
        session = ctx.ensure_object(Session)
        body = _body(file, header_env)
        with session.connect() as client:
            _tell(session, client.keep(collection, body), as_json=as_json)

    @app.command(help="Change one by a file with what is to be changed.")
    def change(
        ctx: typer.Context, resource_id: Id, file: File, header_env: HeaderEnv = None, as_json: AsJson = False
    ) -> None:
        session = ctx.ensure_object(Session)
        body = _body(file, header_env)
        with session.connect() as client:
            _tell(session, client.change_kept(collection, resource_id, body), as_json=as_json)

    @app.command(help="Show one, as JSON.")
    def show(ctx: typer.Context, resource_id: Id) -> None:
        session = ctx.ensure_object(Session)
        with session.connect() as client:
            session.print_json(client.kept_one(collection, resource_id))

    @app.command(help="Delete one. Runs that were started with it go on.")
    def delete(ctx: typer.Context, resource_id: Id, as_json: AsJson = False) -> None:
        session = ctx.ensure_object(Session)
        with session.connect() as client:
            client.drop(collection, resource_id)
        if as_json:
            session.print_json({"id": resource_id, "deleted": True})
        else:
            session.out.print(f"{resource_id} is deleted", markup=False)

    return app


personas = _app("personas", "personas, the simulated users", ("description", "headerNames"))
connectors = _app("connectors", "connectors, the agents behind HTTP", ("type", "baseUrl", "headerNames"))
evals = _app("evals", "evals: scenarios and what they are held against", ("connectorId", "model", "judgeModel"))


@connectors.command("test")
def try_out(ctx: typer.Context, resource_id: Id, as_json: AsJson = False) -> None:
    """Say one thing to the agent. Fails when there is no reply."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        tried = client.test_connector(resource_id)
    if as_json:
        session.print_json(tried)
    else:
        session.out.print(f"{tried['reply'] or tried['error']} ({tried['latencyMs']} ms)", markup=False, soft_wrap=True)
    if not tried["ok"]:
        raise typer.Exit(1)


def _list(session: Session, collection: "Collection", columns: tuple[str, ...], *, as_json: bool) -> None:
    with session.connect() as client:
        found = list(client.kept(collection))
    if as_json:
        session.print_json(found)
        return
    table = render.table("id", "name", *columns)
    for each in found:
        table.add_row(each["id"], escape(each["name"]), *(escape(_cell(each[column])) for column in columns))
    session.out.print(table)


def _cell(value: str | list[str] | None) -> str:
    text = ", ".join(value) if isinstance(value, list) else value
    return render.shorten(text, 60) if text else render.NOTHING


def _body(file: Path, header_env: list[str] | None) -> Json:
    body = read_body(file)
    for given in header_env or ():
        name, _, source = given.partition("=")
        value = variable(source) if source else None
        if not value:
            raise WrongUse(f"--header-env: {given}: name a header and a variable that is set, such as X-Key=AGENT_KEY")
        body["headers"] = {**(body.get("headers") or {}), name: value}
    return body


def _tell(session: Session, resource: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(resource)
    else:
        session.out.print(f"{resource['id']} {resource['name']}", markup=False, soft_wrap=True)
