"""`cupel personas`, `connectors` and `evals`: the named resources of a workspace, created and updated from files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, refuse_group_options
from cupel.environment import read_variable
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.markup import escape
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel.tables import table
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE, shorten

if TYPE_CHECKING:
    from cupel.client import Client
    from cupel.pages import Pages

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, as in the list.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="YAML or JSON with the fields of the API.")]
HeaderEnv = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VARIABLE", help="Read a header's value from an environment variable, to keep it out of the file."
    ),
]


_TEXTS = frozenset({"description", "headerNames", "targets"})
"""Fields that a narrow terminal may fold; the others are ids, addresses and models."""


class Operations(NamedTuple):
    """The client's methods for one kind of resource."""

    list_all: "Callable[[], Pages]"
    create: Callable[[Json], Json]
    get: Callable[[str], Json]
    update: Callable[[str, Json], Json]
    delete: Callable[[str], None]
    shown: Callable[[Json], Json] = lambda resource: resource
    """The resource with the fields that its table shows."""


def _app(
    operations_of: "Callable[[Client], Operations]", kind: str, plural: str, columns: tuple[str, ...]
) -> typer.Typer:
    """The commands for one kind of resource, such as "an eval"; its table shows id, name and the fields `columns`."""
    app = typer.Typer(help=f"List, create, update and delete {plural}.", invoke_without_command=True)

    @app.callback()
    def list_all(ctx: typer.Context, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
        if ctx.invoked_subcommand:
            refuse_group_options(ctx)
            return
        session = ctx.ensure_object(Session)
        with session.connect() as client:
            operations = operations_of(client)
            listed = operations.list_all()
            print_list(
                session, listed, limit, lambda found: _table(map(operations.shown, found), columns), as_json=as_json
            )

    @app.command(help=f"Create {kind} from a file.")
    def create(ctx: typer.Context, file: File, header_env: HeaderEnv = None, as_json: AsJson = False) -> None:
        session = ctx.ensure_object(Session)
        source = SourceFile.read(file)
        body = _body(source, header_env)
        with session.connect() as client, source.explaining():
            _print_saved(session, operations_of(client).create(body), as_json=as_json)

    @app.command(help=f"Update {kind} from a file with the fields to change.")
    def update(
        ctx: typer.Context, resource_id: Id, file: File, header_env: HeaderEnv = None, as_json: AsJson = False
    ) -> None:
        session = ctx.ensure_object(Session)
        source = SourceFile.read(file)
        body = _body(source, header_env)
        with session.connect() as client, source.explaining():
            _print_saved(session, operations_of(client).update(resource_id, body), as_json=as_json)

    @app.command(help=f"Show {kind}, as JSON.")
    def show(ctx: typer.Context, resource_id: Id) -> None:
        session = ctx.ensure_object(Session)
        with session.connect() as client:
            session.print_json(operations_of(client).get(resource_id))

    @app.command(help=f"Delete {kind}. Runs that use it continue.")
    def delete(ctx: typer.Context, resource_id: Id, as_json: AsJson = False) -> None:
        session = ctx.ensure_object(Session)
        with session.connect() as client:
            operations_of(client).delete(resource_id)
        session.print_deleted(resource_id, as_json=as_json)

    return app


def _persona_operations(client: "Client") -> Operations:
    return Operations(
        client.list_personas, client.create_persona, client.get_persona, client.update_persona, client.delete_persona
    )


def _connector_operations(client: "Client") -> Operations:
    return Operations(
        client.list_connectors,
        client.create_connector,
        client.get_connector,
        client.update_connector,
        client.delete_connector,
    )


def _eval_operations(client: "Client") -> Operations:
    names = TargetNames(client)

    def shown(each: Json) -> Json:
        return {**each, "targets": [names.of(target["id"]) for target in each["targets"]]}

    return Operations(
        client.list_evals, client.create_eval, client.get_eval, client.update_eval, client.delete_eval, shown
    )


personas = _app(_persona_operations, "a persona", "personas, the simulated users", ("description", "headerNames"))
connectors = _app(
    _connector_operations, "a connector", "connectors, the agents behind HTTP", ("type", "baseUrl", "headerNames")
)
evals = _app(_eval_operations, "an eval", "evals, saved sets of scenarios with a target", ("targets", "judgeModel"))


@connectors.command("test")
def send_test_message(ctx: typer.Context, resource_id: Id, as_json: AsJson = False) -> None:
    """Send one message to the agent. Exits with 1 if there is no reply."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        result = client.test_connector(resource_id)
    if as_json:
        session.print_json(result)
    else:
        session.out.print(
            f"{result['reply'] or result['error']} ({result['latencyMs']} ms)", markup=False, soft_wrap=True
        )
    if not result["ok"]:
        raise typer.Exit(1)


def _table(resources: Iterable[Json], columns: tuple[str, ...]) -> Table:
    rows = table("id", "name", *columns, texts=["name", *_TEXTS.intersection(columns)])
    for each in resources:
        rows.add_row(each["id"], escape(each["name"]), *(escape(_cell(column, each[column])) for column in columns))
    return rows


def _cell(column: str, value: str | list[str] | None) -> str:
    text = ", ".join(value) if isinstance(value, list) else value or NO_VALUE
    return shorten(text, 60) if column in _TEXTS else text


def _body(source: SourceFile, header_env: list[str] | None) -> Json:
    body = dict(source.mapping())
    for option in header_env or ():
        name, _, variable = option.partition("=")
        value = read_variable(variable) if variable else None
        if not value:
            raise UsageError(
                f"--header-env: {option}: expected HEADER=VARIABLE with an environment variable that is set"
            )
        body["headers"] = {**(body.get("headers") or {}), name: value}
    return body


def _print_saved(session: Session, resource: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(resource)
    else:
        session.out.print(f"{resource['id']} {resource['name']}", markup=False, soft_wrap=True)
