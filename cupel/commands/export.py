"""`cupel export`: the transcripts of a run as JSON Lines or CSV, or in the formats of other tools."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson, RunId
from cupel.counts import count_of
from cupel.errors import CupelError, UsageError
from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    INSPECT = "inspect"
    PROMPTFOO = "promptfoo"
    OPENAI_EVALS = "openai-evals"


_FORMAT_HELP = (
    "jsonl contains whole conversations, csv last answers; inspect writes one .eval log per model to a folder; "
    "inspect, promptfoo and openai-evals also contain the probes that errored."
)


def export(
    ctx: typer.Context,
    run_id: RunId,
    file_format: Annotated[ExportFormat, typer.Option("--format", help=_FORMAT_HELP)],
    output: Annotated[
        Path | None, typer.Option(help="Write to this file or folder instead of standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's transcripts as JSON Lines or CSV, or in the format of another tool."""
    session = ctx.ensure_object(Session)
    if as_json and output is None:
        raise UsageError("--json requires --output: without it, the transcripts go to standard output")
    with session.connect() as client:
        run = client.get_run(run_id)
        if file_format is ExportFormat.INSPECT:
            if output is None:
                raise UsageError("--format inspect requires --output: the folder for the logs")
            written = _write_logs(client, run, output)
        else:
            with _open_output(output) as file:
                written = _write(client, run, file, file_format)
    if as_json:
        session.print_json({"runId": run_id, "format": file_format, "output": str(output), "transcripts": written})
    _print_summary(session, run, written, output)


def _print_summary(session: Session, run: Json, written: int, output: Path | None) -> None:
    missing = run["progress"]["total"] - written
    note = f"; {count_of(missing, 'probe')} without one" if missing > 0 else ""
    session.remark(f"{count_of(written, 'transcript')}{f' written to {output}' if output else ''}{note}")


@contextmanager
def _open_output(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    with _atomic_file(output) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _atomic_file(output: Path) -> Iterator[Path]:
    """Yields a temporary path; the file gets its final name once it is complete."""
    unfinished = output.with_name(f"{output.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(output)
    except OSError as error:
        raise CupelError(f"{output}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write(client: "Client", run: Json, file: IO[str], file_format: ExportFormat) -> int:
    from cupel.exports import openai_evals, promptfoo_results, tables
    from cupel.exports.records import open_run

    match file_format:
        case ExportFormat.JSONL:
            return tables.write_jsonl(client.list_transcripts(run["id"]), file)
        case ExportFormat.CSV:
            return tables.write_csv(client.list_transcripts(run["id"]), file)
    with open_run(client, run) as reader:
        if file_format is ExportFormat.OPENAI_EVALS:
            openai_evals.write(reader.records(), run, file)
        else:
            promptfoo_results.write(reader.records(), run, _definition_name(client, run), file)
    return reader.transcripts


def _write_logs(client: "Client", run: Json, folder: Path) -> int:
    from cupel.exports import inspect_log
    from cupel.exports.records import open_run

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CupelError(f"{folder}: {error.strerror or error}") from error
    name = _definition_name(client, run)
    with open_run(client, run) as reader:
        for number, model in enumerate(run["config"]["models"]):
            with _atomic_file(folder / inspect_log.file_name(run, model, number)) as unfinished:
                inspect_log.write(reader.records(model), run, name, number, unfinished)
    return reader.transcripts


def _definition_name(client: "Client", run: Json) -> str:
    """The name of the run's definition; its id if it was deleted."""
    from cupel.errors import ApiProblem
    from cupel.exports.records import NOT_FOUND

    try:
        return str(client.get_definition(run["definitionId"])["name"])
    except ApiProblem as problem:
        if problem.status != NOT_FOUND:
            raise
        return str(run["definitionId"])
