from pathlib import Path
from typing import Annotated

import typer

from cupel.commands.definitions import DefinitionId, definitions_table, find_definition_id, print_saved
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson
from cupel.errors import UsageError
from cupel.json_types import without_none
from cupel.session import Session


def fork(
    ctx: typer.Context,
    definition: DefinitionId,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A definition file with the content that the fork overrides.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the fork; default: that of its parent.")] = None,
    folder: Annotated[str | None, typer.Option(help="Folder of the fork.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag, repeatable.")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="Version of the parent; default: the latest.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fork a definition. The fork shares its scenarios, and inherits all content that it does not override."""
    from cupel.files import read_definition_changes

    session = ctx.ensure_object(Session)
    changes = read_definition_changes(file) if file else None
    if changes and (changes.scenarios is not None or changes.generate is not None or changes.id is not None):
        raise UsageError(f"{file}: a fork has the scenarios of its parent and an id of its own; give other fields only")
    options = without_none(name=name, folder=folder, tags=tag or None, version=version)
    with session.connect() as client:
        parent = find_definition_id(client, definition)
        if changes is None:
            forked = client.fork_definition(parent, options)
        else:
            with changes.source.explaining():
                forked = client.fork_definition(parent, changes.definition | options)
    print_saved(session, forked, as_json=as_json)


def ancestors(
    ctx: typer.Context, definition: DefinitionId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False
) -> None:
    """List what a definition was forked from, nearest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_definition_ancestors(find_definition_id(client, definition))
        print_list(session, listed, limit, definitions_table, as_json=as_json)


def descendants(
    ctx: typer.Context, definition: DefinitionId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False
) -> None:
    """List the forks of a definition and their forks, level by level."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_definition_descendants(find_definition_id(client, definition))
        print_list(session, listed, limit, definitions_table, as_json=as_json)
