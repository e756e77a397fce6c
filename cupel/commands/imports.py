"""`cupel import`: evaluations in the formats of other tools become definitions with scenarios."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson, command_name
from cupel.counts import count_of
from cupel.errors import CupelError, UsageError
from cupel.folders import FolderFiles
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer

PROMPTFOO = "promptfoo"
_FORMATS = ", ".join((PROMPTFOO, *DatasetFormat))

SourceFormat = Annotated[str, typer.Argument(metavar="FORMAT", help=f"Format of the file: {_FORMATS}.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to import; for promptfoo, its configuration.")]


def import_(
    ctx: typer.Context,
    source_format: SourceFormat,
    file: File,
    name: Annotated[str | None, typer.Option(help="Name of the definition; default: the file's name.")] = None,
    scorer: Annotated[
        DatasetScorer | None, typer.Option(help="How answers are compared with the expected ones.")
    ] = None,
    folder: Annotated[str | None, typer.Option(help="Folder for the definitions.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be created.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create definitions with scenarios from another tool's file. Nothing in it is executed."""
    session = ctx.ensure_object(Session)
    if source_format not in (PROMPTFOO, *DatasetFormat):
        raise UsageError(f"FORMAT: cannot import {source_format}; known formats: {_FORMATS}")
    if source_format == PROMPTFOO:
        body = _promptfoo_body(file)
    else:
        body = {"name": name or file.stem, "content": _read_text(file), "scorer": scorer}
    body = without_none(**body, folder=folder, dryRun=dry_run)
    with session.connect() as client:
        imported = (
            client.import_promptfoo(body) if source_format == PROMPTFOO else client.import_dataset(source_format, body)
        )
    if as_json:
        session.print_json(imported)
    else:
        _print(session, imported)


def _promptfoo_body(file: Path) -> Json:
    """The configuration with the text files it refers to, which parsing it as the API does determines."""
    from cupel_core.imports.json_documents import InvalidDocument
    from cupel_core.imports.promptfoo import read_config

    config, files = _read_text(file), FolderFiles(file.parent)
    try:
        suite = read_config(config, files)
    except InvalidDocument as error:
        raise UsageError(f"{file}: {error}") from error
    if not suite.drafts:
        raise CupelError(f"{file}: nothing in it can be imported: {suite.report.reasons()}")
    return {"config": config, "files": files.contents}


def _print(session: Session, imported: Json) -> None:
    report = imported["report"]
    imported_counts = ", ".join(count_of(count, what.removesuffix("s")) for what, count in report["imported"].items())
    session.out.print(f"imported {imported_counts or 'nothing'}", markup=False)
    for title in ("changed", "skipped"):
        if report[title]:
            session.out.print(_table(title, report[title]))
    for definition in imported["definitions"]:
        definition_id = definition["id"] or "would create"
        line = f"{definition_id}  {definition['name']}: {count_of(definition['scenarioCount'], 'scenario')}"
        session.out.print(line, markup=False, soft_wrap=True)
    for definition in imported["definitions"]:
        if definition["id"]:
            session.out.print(_next_command(definition, imported), markup=False, soft_wrap=True)


def _table(title: str, notes: list[Json]) -> Table:
    table = Table(title, "what", "why", box=None, header_style="bold", pad_edge=False)
    for note in notes:
        table.add_row(*(_escape(note[column]) for column in ("where", "what", "why")))
    return table


def _escape(text: str) -> str:
    """Escape Rich markup, because a configuration may contain any text."""
    return text.replace("[", r"\[")


def _next_command(definition: Json, imported: Json) -> str:
    models = ",".join(definition["models"]) or "provider/model"
    words = [command_name(), "run", definition["id"], "--models", models]
    if imported["repeats"] > 1:
        words += ["--repeats", str(imported["repeats"])]
    if imported["temperature"] is not None:
        words += ["--temperature", str(imported["temperature"])]
    return f"next     {shlex.join(words)} --watch"


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8 text") from error
