"""Defines the commands that kinds of resources share; `cupel personas`, `connectors` and `evals` have few others."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, Render, print_list
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

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, as in the list.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="YAML or JSON with the fields of the API.")]
HeaderEnv = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VARIABLE", help="Read a header's value from an environment variable, to keep it out of the file."
    ),
]


CALLED_METHODS: set[str] = set()
_TEXTS = frozenset({"description", "headerNames", "targets"})
"""A narrow terminal may fold these fields; the others are ids, addresses and models."""


def print_id_and_name(session: Session, resource: Json) -> None:
    session.out.print(f"{resource['id']} {resource['name']}", markup=False, soft_wrap=True)


@dataclass(frozen=True)
class ResourceCommands:
    """Defines the shared commands of one kind of a workspace's resources.

    Each method adds one of them to the app, whose help lists them in this order.
    """

    app: typer.Typer
    name: str
    table: "Callable[[Client], Render]"
    argument: Any = Id
    print_saved: Callable[[Session, Json], None] = print_id_and_name

    def list_by_default(self) -> None:
        print_all = self._list_printer()
        self.add_list(f"List {self.name}s.", is_hidden=True)

        @self.app.callback()
        def list_all(ctx: typer.Context, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
            if ctx.invoked_subcommand:
                refuse_group_options(ctx)
                return
            print_all(ctx.ensure_object(Session), limit, as_json)

    def add_list(self, help_text: str, *, is_hidden: bool = False) -> None:
        print_all = self._list_printer()

        @self.app.command("list", help=help_text, hidden=is_hidden)
        def list_all(ctx: typer.Context, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
            print_all(ctx.ensure_object(Session), limit, as_json)

    def _list_printer(self) -> Callable[[Session, int, bool], None]:
        list_all = self._method(f"list_{self.name}s")

        def print_all(session: Session, limit: int, as_json: bool) -> None:
            with session.connect() as client:
                print_list(session, list_all(client)(), limit, self.table(client), as_json=as_json)

        return print_all

    def _method(self, name: str) -> "Callable[[Client], Callable[..., Any]]":
        CALLED_METHODS.add(name)
        return attrgetter(name)

    def add_create(self, help_text: str, *, reads_headers: bool = False) -> None:
        create_one = self._method(f"create_{self.name}")

        def create(ctx: typer.Context, file: File, header_env: HeaderEnv = None, as_json: AsJson = False) -> None:
            self._save(ctx, create_one, (), file, header_env, as_json=as_json)

        self.app.command(help=help_text)(create if reads_headers else _without_headers(create))

    def add_update(self, help_text: str, *, reads_headers: bool = False) -> None:
        update_one = self._method(f"update_{self.name}")

        def update(
            ctx: typer.Context, resource_id: str, file: File, header_env: HeaderEnv = None, as_json: AsJson = False
        ) -> None:
            self._save(ctx, update_one, (resource_id,), file, header_env, as_json=as_json)

        command = self._with_argument(update)
        self.app.command(help=help_text)(command if reads_headers else _without_headers(command))

    def _save(
        self,
        ctx: typer.Context,
        send: "Callable[[Client], Callable[..., Any]]",
        ids: tuple[str, ...],
        file: Path,
        header_env: list[str] | None,
        *,
        as_json: bool,
    ) -> None:
        session = ctx.ensure_object(Session)
        source = SourceFile.read(file)
        body = _body(source, header_env)
        with session.connect() as client, source.explaining():
            saved = send(client)(*ids, body)
            if as_json:
                session.print_json(saved)
            else:
                self.print_saved(session, saved)

    def add_show(self, help_text: str) -> None:
        get_one = self._method(f"get_{self.name}")

        def show(ctx: typer.Context, resource_id: str) -> None:
            session = ctx.ensure_object(Session)
            with session.connect() as client:
                session.print_json(get_one(client)(resource_id))

        self.app.command(help=help_text)(self._with_argument(show))

    def add_show_in_table(self, help_text: str) -> None:
        get_one = self._method(f"get_{self.name}")

        def show(ctx: typer.Context, resource_id: str, as_json: AsJson = False) -> None:
            session = ctx.ensure_object(Session)
            with session.connect() as client:
                found = get_one(client)(resource_id)
                if as_json:
                    session.print_json(found)
                else:
                    session.out.print(self.table(client)([found]))

        self.app.command(help=help_text)(self._with_argument(show))

    def add_delete(self, help_text: str) -> None:
        delete_one = self._method(f"delete_{self.name}")

        def delete(ctx: typer.Context, resource_id: str, as_json: AsJson = False) -> None:
            session = ctx.ensure_object(Session)
            with session.connect() as client:
                delete_one(client)(resource_id)
            session.print_deleted(resource_id, as_json=as_json)

        self.app.command(help=help_text)(self._with_argument(delete))

    def _with_argument(self, command: Callable[..., None]) -> Callable[..., None]:
        command.__annotations__["resource_id"] = self.argument
        return command


def _without_headers(command: Callable[..., None]) -> Callable[..., None]:
    own = signature(command)
    parameters = [each for each in own.parameters.values() if each.name != "header_env"]
    vars(command)["__signature__"] = own.replace(parameters=parameters)
    return command


def _from_files(name: str, kind: str, plural: str, table_of: "Callable[[Client], Render]") -> typer.Typer:
    app = typer.Typer(help=f"List, create, update and delete {plural}.", invoke_without_command=True)
    resource = ResourceCommands(app, name, table_of)
    resource.list_by_default()
    resource.add_create(f"Create {kind} from a file.", reads_headers=True)
    resource.add_update(f"Update {kind} from a file with the fields to change.", reads_headers=True)
    resource.add_show(f"Show {kind}, as JSON.")
    resource.add_delete(f"Delete {kind}. Runs that use it continue.")
    return app


def _columns(*columns: str) -> "Callable[[Client], Render]":
    return lambda _: lambda found: _table(found, columns)


def _evals_table(client: "Client") -> Render:
    names = TargetNames(client)

    def shown(each: Json) -> Json:
        return {**each, "targets": [names.of(target["id"]) for target in each["targets"]]}

    return lambda found: _table(map(shown, found), ("targets", "judgeModel"))


personas = _from_files("persona", "a persona", "personas, the simulated users", _columns("description", "headerNames"))
connectors = _from_files(
    "connector", "a connector", "connectors, the agents behind HTTP", _columns("type", "baseUrl", "headerNames")
)
evals = _from_files("eval", "an eval", "evals, saved sets of scenarios with a target", _evals_table)


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
