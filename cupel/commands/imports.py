import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.table import Table

from cupel.commands.options import AsJson, command_name
from cupel.counts import count_of
from cupel.errors import CupelError, RefusedField, UsageError
from cupel.json_types import Json, without_none
from cupel.local_files import FolderFiles
from cupel.local_files import upload as upload_files
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel.table_files import PARQUET, table_text
from cupel_core.domain.definitions.datasets import ColumnMapping, DatasetFormat, DatasetOptions, DatasetScorer

if TYPE_CHECKING:
    from cupel_core.domain.definitions.drafts import ImportedSuite
    from cupel_core.interop.imports.datasets import InvalidAssertions

PROMPTFOO = "promptfoo"
_KNOWN_FORMATS = (PROMPTFOO, *DatasetFormat, PARQUET)
_FORMATS = ", ".join(_KNOWN_FORMATS)

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
    input_column: Annotated[
        str | None, typer.Option("--input", metavar="COLUMN", help="The column with the prompt.")
    ] = None,
    answer_column: Annotated[
        str | None, typer.Option("--answer", metavar="COLUMN", help="The column with the expected answer.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The column with the names of scenarios.")
    ] = None,
    assertions: Annotated[
        Path | None,
        typer.Option(
            "--assert", metavar="FILE", help="A list of assertions (YAML); {{column}} is the value of a column."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many rows are imported.")] = None,
    offset: Annotated[int, typer.Option(min=0, help="How many rows are skipped before that.")] = 0,
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
    if source_format not in _KNOWN_FORMATS:
        raise UsageError(f"FORMAT: cannot import {source_format}; known formats: {_FORMATS}")
    checks = _AssertionFile.read(assertions) if assertions else None
    columns = ColumnMapping(input_column, answer_column, id_column)
    options = DatasetOptions(columns, limit, offset, checks.assertions if checks else ())
    if source_format == PROMPTFOO and (scorer is not None or options != DatasetOptions()):
        raise UsageError("--scorer, --input, --answer, --id, --assert, --limit and --offset: not for promptfoo")
    known_format = DatasetFormat.JSONL if source_format == PARQUET else source_format
    source = _Source(known_format, file, name, scorer, options, checks)
    if output is not None:
        if folder is not None or dry_run:
            raise UsageError(
                "--output: has no effect with --folder or --dry-run, which are about a stack's definitions"
            )
        imported = _write_files(source, output)
    else:
        imported = _import_on_stack(session, source, folder, dry_run=dry_run)
    if as_json:
        session.print_json(imported)
    else:
        _print(session, imported)


@dataclass(frozen=True)
class _Source:
    format: str
    file: Path
    name: str | None
    scorer: DatasetScorer | None
    options: DatasetOptions
    checks: "_AssertionFile | None" = None

    @cached_property
    def text(self) -> str:
        from cupel_core.interop.imports.json_documents import InvalidDocument
        from cupel_core.interop.imports.recognition import promptfoo_configuration
        from cupel_core.interop.imports.text_files import decode_text

        try:
            content = self.file.read_bytes()
            if self.format == PROMPTFOO:
                return promptfoo_configuration(decode_text(content))
            return table_text(content, self.options)
        except OSError as error:
            raise UsageError(f"{self.file}: {error.strerror or error}") from error
        except (InvalidDocument, UsageError) as error:
            raise UsageError(f"{self.file}: {error}") from error

    @property
    def title(self) -> str:
        return self.name or self.file.name.removesuffix(".gz").rpartition(".")[0] or self.file.name

    def read(self, files: FolderFiles, code_folder: str | None = None) -> "ImportedSuite":
        """Read the file as the API does. Raises CupelError if nothing in it can be imported."""
        from cupel_core.interop.imports.admission import admit, require_admission
        from cupel_core.interop.imports.datasets import InvalidAssertions, read_dataset
        from cupel_core.interop.imports.json_documents import InvalidDocument
        from cupel_core.interop.imports.promptfoo import read_config

        try:
            if self.format != PROMPTFOO:
                kind = DatasetFormat(self.format)
                samples = read_dataset(self.text, kind, self.title, self.scorer, files, self.options)
                return require_admission(samples)
            suite = admit(read_config(self.text, files, code_folder), allow_code=code_folder is not None)
        except InvalidAssertions as error:
            problem = self.checks.refusal(error) if self.checks else UsageError(str(error))
            raise problem from error
        except InvalidDocument as error:
            raise UsageError(f"{self.file}: {error}") from error
        if not suite.drafts:
            raise CupelError(f"{self.file}: nothing in it can be imported: {suite.report.reasons()}")
        return suite

    def request(self, files: FolderFiles) -> Json:
        if self.format == PROMPTFOO:
            return {"config": self.text, "files": files.contents}
        columns, options = self.options.columns, self.options
        return {
            "name": self.title,
            "content": self.text,
            "scorer": self.scorer,
            "inputColumn": columns.input,
            "answerColumn": columns.answer,
            "idColumn": columns.id,
            "offset": options.offset or None,
            "limit": options.limit,
            "assertions": list(options.assertions) or None,
        }


@dataclass(frozen=True)
class _AssertionFile:
    source: SourceFile
    field: str
    assertions: tuple[Json, ...]

    @classmethod
    def read(cls, file: Path) -> Self:
        source = SourceFile.read(file)
        document, field = source.document, ""
        if isinstance(document, dict):
            field = "assertions" if "assertions" in document else "assert"
            document = document.get(field)
        if not isinstance(document, list) or not document:
            example = "- {type: factuality, value: '{{answer}}'}"
            raise UsageError(f"{file}: must be a list of assertions, such as `{example}`")
        return cls(source, field, tuple(document))

    def refusal(self, error: "InvalidAssertions") -> UsageError:
        return self.source.refusal(
            RefusedField(issue.field.replace("assertions", self.field, 1).lstrip("."), issue.message)
            for issue in error.issues
        )


def _import_on_stack(session: Session, source: _Source, folder: str | None, *, dry_run: bool) -> Json:
    from cupel.imported_suites import is_large, upload_suite, with_local_reasons

    files = FolderFiles(source.file.parent)
    suite = source.read(files)  # This also determines which files it refers to.
    if is_large([source.text, *files.contents.values()], suite):
        if dry_run:
            return _response(suite, [None] * len(suite.drafts))
        with session.connect() as client, session.err.status("uploading") as display:
            upload_files(client, files.media)
            try:
                uploaded = upload_suite(client, suite, folder, display.update)
            except (KeyboardInterrupt, CupelError):
                session.remark("the upload was interrupted; the same command continues it")
                raise
        return _response(suite, list(uploaded))
    uploads = {path: files.find_media(path) for path in files.media}
    body = without_none(**source.request(files), folder=folder, dryRun=dry_run, uploads=uploads or None)
    with session.connect() as client:
        if not dry_run:
            upload_files(client, files.media)
        if source.format == PROMPTFOO:
            imported = client.import_promptfoo(body)
        else:
            imported = client.import_dataset(source.format, body)
    return with_local_reasons(imported, suite)


def _response(suite: "ImportedSuite", ids: list[str | None]) -> Json:
    from cupel_core.contract.imports import ImportResultResponse
    from cupel_core.domain.definitions.drafts import ImportedDefinition, ImportResult

    definitions = tuple(ImportedDefinition(draft, each) for draft, each in zip(suite.drafts, ids, strict=True))
    result = ImportResult(definitions, suite.repeats, suite.temperature, suite.report, suite.connectors)
    response: Json = ImportResultResponse.of(result).model_dump(mode="json", by_alias=True)
    return response


def _write_files(source: _Source, output: Path) -> Json:
    from cupel import imported_suites

    folder = imported_suites.code_folder(source.file, output)
    files = FolderFiles(source.file.parent)
    suite = source.read(files, folder)
    paths = imported_suites.output_paths(suite, output)
    located = {str(files.find_media(path)): f"{folder}{path}" for path in files.media}
    imported_suites.write_definitions(suite, paths, located)
    response = _response(suite, [None] * len(suite.drafts))
    for definition, path in zip(response["definitions"], paths, strict=True):
        definition["file"] = str(path)
    return {**response, "hasCode": imported_suites.has_code(suite)}


def _print(session: Session, imported: Json) -> None:
    from cupel.imported_suites import grouped_notes

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
    return text.replace("[", r"\[")


def _next_command(definition: Json, imported: Json) -> str:
    from cupel.imported_suites import required_model_options

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
    targets = definition["targets"]
    params = [target.get("params", {}) for target in targets]
    is_plain = not any("label" in target for target in targets) and all(
        each.keys() <= {"temperature"} for each in params
    )
    if is_plain and len({each.get("temperature") for each in params}) < 2:
        return ["--models", ",".join([*definition["models"], *agents]) or "provider/model"]
    targets = [*targets, *({"model": agent} for agent in agents)]
    return ["--targets", json.dumps(targets, ensure_ascii=False)]
