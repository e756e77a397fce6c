"""`cupel import`: evaluations in the formats of other tools become definitions with scenarios."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson, command_name
from cupel.counts import count_of
from cupel.errors import CupelError, UsageError
from cupel.folders import FolderFiles
from cupel.import_report import grouped_notes, required_model_options, with_local_reasons
from cupel.json_types import Json, without_none
from cupel.local_files import upload as upload_files
from cupel.session import Session
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer

if TYPE_CHECKING:
    from cupel_core.domain.definitions.drafts import ImportedSuite

PROMPTFOO = "promptfoo"
_MEDIA_WORDS = ("image", "document", "file")
"""One of them is in every data set whose messages have images or PDFs."""
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
    output: Annotated[
        Path | None,
        typer.Option(help="Write a definition file instead, with code of assertions for `cupel run --in-process`."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create definitions with scenarios from another tool's file. Nothing in it is executed."""
    session = ctx.ensure_object(Session)
    if source_format not in (PROMPTFOO, *DatasetFormat):
        raise UsageError(f"FORMAT: cannot import {source_format}; known formats: {_FORMATS}")
    if output is not None:
        if folder is not None or dry_run:
            raise UsageError(
                "--output: has no effect with --folder or --dry-run, which are about a stack's definitions"
            )
        imported = _write_files(source_format, file, name, scorer, output)
    else:
        imported = _import_on_stack(session, source_format, file, name, scorer, folder, dry_run=dry_run)
    if as_json:
        session.print_json(imported)
    else:
        _print(session, imported)


def _import_on_stack(
    session: Session,
    source_format: str,
    file: Path,
    name: str | None,
    scorer: DatasetScorer | None,
    folder: str | None,
    *,
    dry_run: bool,
) -> Json:
    files = FolderFiles(file.parent)
    text = _read_text(file)
    local = None
    if source_format == PROMPTFOO or any(word in text for word in _MEDIA_WORDS):
        local = _read_suite(source_format, file, files, name, scorer)  # Also determines which files it refers to.
    if source_format == PROMPTFOO:
        body: Json = {"config": text, "files": files.contents}
    else:
        body = {"name": name or file.stem, "content": text, "scorer": scorer}
    uploads = {path: files.find_media(path) for path in files.media}
    body = without_none(**body, folder=folder, dryRun=dry_run, uploads=uploads or None)
    with session.connect() as client:
        if not dry_run:
            upload_files(client, files.media)
        imported = (
            client.import_promptfoo(body) if source_format == PROMPTFOO else client.import_dataset(source_format, body)
        )
    return with_local_reasons(imported, local) if local else imported


def _write_files(source_format: str, file: Path, name: str | None, scorer: DatasetScorer | None, output: Path) -> Json:
    """The response of the API, with the files in place of the ids."""
    from cupel import import_files
    from cupel_core.contract.imports import ImportResultResponse
    from cupel_core.domain.definitions.drafts import ImportedDefinition, ImportResult

    folder = import_files.code_folder(file, output)
    files = FolderFiles(file.parent)
    suite = _read_suite(source_format, file, files, name, scorer, folder)
    paths = import_files.output_paths(suite, output)
    located = {str(files.find_media(path)): f"{folder}{path}" for path in files.media}
    import_files.write_definitions(suite, paths, located)
    definitions = tuple(ImportedDefinition(draft, None) for draft in suite.drafts)
    result = ImportResult(definitions, suite.repeats, suite.temperature, suite.report, suite.connectors)
    response: Json = ImportResultResponse.of(result).model_dump(mode="json", by_alias=True)
    for definition, path in zip(response["definitions"], paths, strict=True):
        definition["file"] = str(path)
    return {**response, "hasCode": import_files.has_code(suite)}


def _read_suite(
    source_format: str,
    file: Path,
    files: FolderFiles,
    name: str | None,
    scorer: DatasetScorer | None,
    code_folder: str | None = None,
) -> "ImportedSuite":
    """The file as the API reads it. CupelError if nothing in it can be imported."""
    from cupel_core.imports.admission import admit, require_admission
    from cupel_core.imports.datasets import read_dataset
    from cupel_core.imports.json_documents import InvalidDocument
    from cupel_core.imports.promptfoo import read_config

    try:
        if source_format != PROMPTFOO:
            samples = read_dataset(_read_text(file), DatasetFormat(source_format), name or file.stem, scorer, files)
            return require_admission(samples)
        suite = admit(read_config(_read_text(file), files, code_folder), allow_code=code_folder is not None)
    except InvalidDocument as error:
        raise UsageError(f"{file}: {error}") from error
    if not suite.drafts:
        raise CupelError(f"{file}: nothing in it can be imported: {suite.report.reasons()}")
    return suite


def _print(session: Session, imported: Json) -> None:
    report = imported["report"]
    imported_counts = ", ".join(count_of(count, what.removesuffix("s")) for what, count in report["imported"].items())
    session.out.print(f"imported {imported_counts or 'nothing'}", markup=False)
    for title in ("changed", "skipped"):
        if report[title]:
            session.out.print(_table(title, grouped_notes(report[title])))
    for definition in imported["definitions"]:
        definition_id = definition.get("file") or definition["id"] or "would create"
        line = f"{definition_id}  {definition['name']}: {count_of(definition['scenarioCount'], 'scenario')}"
        session.out.print(line, markup=False, soft_wrap=True)
    for connector in imported["connectors"]:
        headers = ", ".join(connector["headers"])
        line = f"connector  {connector['name']}: {connector['baseUrl']}{f'; headers: {headers}' if headers else ''}"
        session.out.print(line, markup=False, soft_wrap=True)
    for definition in imported["definitions"]:
        if definition.get("file") or definition["id"]:
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
    names = {True: "connector/{}", False: "connector/<id of {}>"}[bool(definition.get("file"))]
    agents = [names.format(connector["name"]) for connector in imported["connectors"]]
    words = [command_name(), "run", definition.get("file") or definition["id"], *_targets(definition, agents)]
    if imported["repeats"] > 1:
        words += ["--repeats", str(imported["repeats"])]
    if imported["temperature"] is not None and "--models" in words:
        words += ["--temperature", str(imported["temperature"])]
    words += required_model_options(definition["requiredModels"])
    words += ["--watch"] if definition["id"] else ["--in-process", *(["--allow-code"] * imported["hasCode"])]
    return f"next     {shlex.join(words)}"


def _targets(definition: Json, agents: list[str]) -> list[str]:
    """The option that names the targets: by their models, if they have nothing else or one temperature."""
    targets = definition["targets"]
    params = [target.get("params", {}) for target in targets]
    is_plain = not any("label" in target for target in targets) and all(
        each.keys() <= {"temperature"} for each in params
    )
    if is_plain and len({each.get("temperature") for each in params}) < 2:
        return ["--models", ",".join([*definition["models"], *agents]) or "provider/model"]
    targets = [*targets, *({"model": agent} for agent in agents)]
    return ["--targets", json.dumps(targets, ensure_ascii=False)]


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8 text") from error
