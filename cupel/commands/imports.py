"""`cupel import`: evaluations in the formats of other tools become definitions with scenarios."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson, own_name
from cupel.errors import WrongUse
from cupel.folders import FolderFiles
from cupel.json_types import Json
from cupel.session import Session
from cupel_core.imports.datasets import Format, Scorer

PROMPTFOO = "promptfoo"
_KINDS = ", ".join((PROMPTFOO, *Format))

Kind = Annotated[str, typer.Argument(metavar="FORMAT", help=f"What the file is: {_KINDS}.")]
File = Annotated[Path, typer.Argument(help="The file; of promptfoo, the configuration.")]


def import_(
    ctx: typer.Context,
    kind: Kind,
    file: File,
    name: Annotated[str | None, typer.Option(help="Of the definition; the file's when not given.")] = None,
    scorer: Annotated[Scorer | None, typer.Option(help="How an answer is compared with the right one.")] = None,
    folder: Annotated[str | None, typer.Option(help="Where the definitions go.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make definitions with scenarios of another tool's file. Nothing in it is executed."""
    session = ctx.ensure_object(Session)
    if kind not in (PROMPTFOO, *Format):
        raise WrongUse(f"{kind} is no format that is imported; there are {_KINDS}")
    if kind == PROMPTFOO:
        body = _configuration(file)
    else:
        body = {"name": name or file.stem, "content": _text(file), "scorer": scorer}
    given = {field: value for field, value in {**body, "folder": folder}.items() if value is not None}
    with session.connect() as client:
        imported = client.import_file(kind, {**given, "dryRun": dry_run})
    if as_json:
        session.print_json(imported)
    else:
        _print(session, imported)


def _configuration(file: Path) -> Json:
    """With the text files that it names: they are found by reading it as the API will."""
    from cupel_core.imports.json_documents import Unreadable
    from cupel_core.imports.promptfoo import read

    config, files = _text(file), FolderFiles(file.parent)
    try:
        read(config, files)
    except Unreadable as error:
        raise WrongUse(f"{file}: {error}") from error
    return {"config": config, "files": files.found}


def _print(session: Session, imported: Json) -> None:
    report = imported["report"]
    taken = ", ".join(f"{count:,} {what}" for what, count in report["taken"].items())
    session.out.print(f"taken    {taken or 'nothing'}", markup=False)
    for title in ("changed", "left"):
        if report[title]:
            session.out.print(_table(title, report[title]))
    for definition in imported["definitions"]:
        made = definition["id"] or "would make"
        words = f"{made}  {definition['name']}: {definition['scenarioCount']:,} scenarios"
        session.out.print(words, markup=False, soft_wrap=True)
    for definition in imported["definitions"]:
        if definition["id"]:
            session.out.print(_next(definition, imported), markup=False, soft_wrap=True)


def _table(title: str, notes: list[Json]) -> Table:
    table = Table(title, "what", "why", box=None, header_style="bold", pad_edge=False)
    for note in notes:
        table.add_row(*(_plain(note[column]) for column in ("where", "what", "why")))
    return table


def _plain(text: str) -> str:
    """Not markup: a configuration may hold anything."""
    return text.replace("[", r"\[")


def _next(definition: Json, imported: Json) -> str:
    models = ",".join(definition["models"]) or "provider/model"
    words = [own_name(), "run", definition["id"], "--models", models]
    if imported["repeats"] > 1:
        words += ["--repeats", str(imported["repeats"])]
    if imported["temperature"] is not None:
        words += ["--temperature", str(imported["temperature"])]
    return f"next     {shlex.join(words)} --watch"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", newline="")
    except OSError as error:
        raise WrongUse(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise WrongUse(f"{file}: is no UTF-8 text") from error
