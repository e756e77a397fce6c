from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cupel.commands.delete import delete_each
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import (
    After,
    AsJson,
    Before,
    OldestFirst,
    Yes,
    confirm,
    creation_filters,
    refuse_group_options,
)
from cupel.commands.run import print_file_warnings, print_uploaded
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time

if TYPE_CHECKING:
    from cupel.client import Client
    from cupel.definition_texts import VersionDiff

app = typer.Typer(help="List, show, create, update, delete and compare definitions.", invoke_without_command=True)

DefinitionId = Annotated[
    str, typer.Argument(metavar="DEFINITION", help="The id or the name of a definition, such as def_01jd3v….")
]
Version = Annotated[int | None, typer.Option("--version", min=1, help="A version; default: the latest.")]
FromVersion = Annotated[int | None, typer.Argument(metavar="FROM", min=1, help="Default: the one before TO.")]
ToVersion = Annotated[int | None, typer.Argument(metavar="TO", min=1, help="Default: the latest version.")]
DefinitionFilePath = Annotated[Path, typer.Argument(metavar="FILE", help="A definition file, as for `cupel run`.")]


@app.callback()
def definitions(ctx: typer.Context, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List, show, create, update, delete and compare definitions."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    list_definitions(ctx, limit=limit, as_json=as_json)


@app.command("list")
def list_definitions(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Option(help="Only names that contain this text.")] = None,
    folder: Annotated[str | None, typer.Option(help="Only this folder.")] = None,
    recursive: Annotated[bool, typer.Option("--recursive", help="With --folder: also the folders below it.")] = False,
    tag: Annotated[str | None, typer.Option(help="Only definitions with this tag.")] = None,
    after: After = None,
    before: Before = None,
    oldest_first: OldestFirst = False,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List definitions, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        times = creation_filters(after, before, oldest_first=oldest_first)
        listed = client.list_definitions(folder=folder, include_children=recursive, search=name, tag=tag, **times)
        print_list(session, listed, limit, definitions_table, as_json=as_json)


@app.command()
def show(
    ctx: typer.Context,
    definition: DefinitionId,
    version: Version = None,
    scenarios: Annotated[bool, typer.Option("--scenarios", help="Include the scenarios.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a definition as a definition file: `cupel run` accepts it if it has scenarios."""
    from cupel.definition_texts import definition_text
    from cupel.upload import own_tags

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = client.get_definition(find_definition_id(client, definition), version=version)
        items = list(client.list_scenarios(found["id"], version=found["version"])) if scenarios else None
    if as_json:
        session.print_json(found | without_none(scenarios=items))
        return
    text = definition_text(found | {"tags": own_tags(found["tags"])}, items)
    session.out.print(text, markup=False, soft_wrap=True, end="")


@app.command()
def create(ctx: typer.Context, file: DefinitionFilePath, as_json: AsJson = False) -> None:
    """Create a definition from a file, even if one of its name exists."""
    from cupel.files import read_definition
    from cupel.upload import upload_definition

    session = ctx.ensure_object(Session)
    definition_file = read_definition(file)
    print_file_warnings(session, definition_file.source.warnings)
    with session.connect() as client:
        uploaded = upload_definition(client, definition_file, session.sleep, new=True)
        print_uploaded(session, uploaded)
        print_saved(session, client.get_definition(uploaded.id), as_json=as_json)


@app.command()
def update(
    ctx: typer.Context,
    definition: DefinitionId,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A definition file; its content and scenarios become the next version."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the definition.")] = None,
    folder: Annotated[str | None, typer.Option(help="Folder of the definition; an empty one removes it.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag, repeatable; replaces all tags.")] = None,
    version_label: Annotated[str | None, typer.Option(help="A name for the latest version, such as v1.2.")] = None,
    as_json: AsJson = False,
) -> None:
    """Update a definition from a file, which may omit parts, and change its name, folder, tags or version label."""
    from cupel.errors import UsageError
    from cupel.files import read_definition_changes
    from cupel.upload import replace_own_tags, update_from_file

    session = ctx.ensure_object(Session)
    labels = without_none(name=name, folder=folder, versionLabel=version_label)
    if file is None and not labels and tag is None:
        raise UsageError(
            "nothing to update: specify a FILE or at least one option; see cupel definitions update --help"
        )
    changes = read_definition_changes(file) if file else None
    if changes is not None:
        print_file_warnings(session, changes.source.warnings)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        if changes is not None:
            print_uploaded(session, update_from_file(client, definition_id, changes, session.sleep))
        current = client.get_definition(definition_id)
        if tag is not None:
            labels["tags"] = replace_own_tags(current["tags"], tag)
        if labels:
            labels = labels | ({"folder": None} if folder == "" else {})
            current = client.update_definition(definition_id, labels, if_match=current.etag)
    print_saved(session, current, as_json=as_json)


@app.command()
def delete(
    ctx: typer.Context,
    definitions: Annotated[
        list[str], typer.Argument(metavar="DEFINITION", help="The id or the name of a definition, or several.")
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete definitions. Their runs and forks are kept."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        ids = [find_definition_id(client, each) for each in definitions]
        confirm(f"Delete {', '.join(ids)}?", yes=yes)
        if len(ids) > 1:
            delete_each(session, ids, client.delete_definitions, as_json=as_json)
            return
        client.delete_definition(ids[0])
    session.print_deleted(ids[0], as_json=as_json)


@app.command()
def erase(ctx: typer.Context, definition: DefinitionId, yes: Yes = False, as_json: AsJson = False) -> None:
    """Erase a definition with its scenarios, its runs and everything said in them. It cannot be undone."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        confirm(f"Erase {definition_id} with its scenarios and its runs?", yes=yes)
        client.erase_definition(definition_id)
    if as_json:
        session.print_json({"id": definition_id, "erased": True})
    else:
        session.out.print(f"erasing {definition_id}; nobody can read it any more", markup=False)


@app.command()
def diff(
    ctx: typer.Context,
    definition: DefinitionId,
    from_version: FromVersion = None,
    to_version: ToVersion = None,
    as_json: AsJson = False,
) -> None:
    """Compare two versions of a definition: their content and their scenarios."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        compared = compare(client, definition, from_version, to_version)
    print_diff(session, compared, as_json=as_json)


def find_definition_id(client: "Client", text: str) -> str:
    if text.startswith("def_"):
        return text
    from cupel.errors import UsageError
    from cupel_core.domain.text.near_names import did_you_mean

    same = [head["id"] for head in client.list_definitions(search=text) if head["name"] == text]
    if len(same) == 1:
        return str(same[0])
    if same:
        raise UsageError(f"{len(same)} definitions are named {text}: {', '.join(same)}")
    names = [head["name"] for head in client.list_definitions().first(1_000)]
    raise UsageError(f"there is no definition named {text}{did_you_mean(text, names)}")


def compare(client: "Client", definition: str, from_version: int | None, to_version: int | None) -> "VersionDiff":
    from cupel.definition_texts import VersionDiff
    from cupel.errors import UsageError

    definition_id = find_definition_id(client, definition)
    after = client.get_definition(definition_id, version=to_version)
    number = from_version or after["version"] - 1
    if not number:
        raise UsageError(f"{definition_id} has only one version")
    before = client.get_definition(definition_id, version=number)
    scenarios = [list(client.list_scenarios(definition_id, version=each["version"])) for each in (before, after)]
    return VersionDiff(before, after, *scenarios)


def print_diff(session: Session, compared: "VersionDiff", *, as_json: bool, scenarios_only: bool = False) -> None:
    if as_json:
        session.print_json(compared.to_json(scenarios_only=scenarios_only))
        return
    lines = list(compared.lines(scenarios_only=scenarios_only))
    for line in lines:
        session.out.print(line, markup=False, soft_wrap=True, style=_STYLES.get(line[:1], ""))
    if not lines:
        versions = f"versions {compared.before['version']} and {compared.after['version']}"
        session.remark(f"{versions} of {compared.after['id']} do not differ")


def definitions_table(definitions: Iterable[Json]) -> Table:
    from cupel.upload import own_tags

    columns = table(
        "definition", "name", "folder", "version", "tags", "updated", right=["version"], texts=["name", "tags"]
    )
    for each in definitions:
        version = f"{each['version']} {each['versionLabel']}" if each.get("versionLabel") else str(each["version"])
        texts = (
            each["id"],
            each["name"],
            each["folder"] or NO_VALUE,
            version,
            ", ".join(own_tags(each["tags"])),
        )
        columns.add_row(*map(escape, texts), format_time(each["updatedAt"]))
    return columns


_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_saved(session: Session, definition: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(definition)
    else:
        session.out.print(definition["id"], markup=False)
