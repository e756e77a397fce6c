import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson, RescoreId, RunId
from cupel.commands.written_files import written_file, written_output
from cupel.counts import count_of
from cupel.errors import CupelError, UsageError
from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client
    from cupel.exports.records import OutcomeReader


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    INSPECT = "inspect"
    PROMPTFOO = "promptfoo"
    OPENAI_EVALS = "openai-evals"


_FORMAT_HELP = (
    "jsonl contains whole conversations, csv last answers; inspect writes one .eval log per model to a folder. "
    "Errored conversations are included with their error."
)


def export(
    ctx: typer.Context,
    run_id: RunId,
    file_format: Annotated[ExportFormat, typer.Option("--format", help=_FORMAT_HELP)],
    rescore_id: RescoreId = None,
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
            reader = _write_logs(client, run, rescore_id, output)
        else:
            with _open_output(output) as file:
                reader = _write(client, run, rescore_id, file, file_format)
    if as_json:
        counts = {"transcripts": reader.transcripts, "errored": reader.errored}
        session.print_json({"runId": run_id, "format": file_format, "output": str(output), **counts})
    _print_summary(session, reader, output)


def _print_summary(session: Session, reader: "OutcomeReader", output: Path | None) -> None:
    missing = reader.run["progress"]["total"] - reader.transcripts - reader.errored
    errored = f" and {count_of(reader.errored, 'errored conversation')}" if reader.errored else ""
    place = f" written to {output}" if output else ""
    note = f"; {count_of(missing, 'conversation')} without an outcome yet" if missing > 0 else ""
    session.remark(f"{count_of(reader.transcripts, 'transcript')}{errored}{place}{note}")


@contextmanager
def _open_output(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        with written_output():
            yield sys.stdout
        return
    with written_file(output) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        yield file


def _write(
    client: "Client", run: Json, rescore_id: str | None, file: IO[str], file_format: ExportFormat
) -> "OutcomeReader":
    from cupel.exports import promptfoo_results, tables
    from cupel.exports.records import OutcomeReader, open_run

    reader = OutcomeReader(client, run, rescore_id)
    match file_format:
        case ExportFormat.JSONL:
            tables.write_jsonl(reader.outcomes(), file)
        case ExportFormat.CSV:
            tables.write_csv(reader.outcomes(), run, rescore_id, file)
        case ExportFormat.OPENAI_EVALS:
            with open_run(reader) as opened:
                tables.write_openai_evals(opened.records(), run, file)
        case _:
            with open_run(reader) as opened:
                promptfoo_results.write(opened.records(), run, _definition_name(client, run), file)
    return reader


def _write_logs(client: "Client", run: Json, rescore_id: str | None, folder: Path) -> "OutcomeReader":
    from cupel.columns import columns_of
    from cupel.exports import inspect_log
    from cupel.exports.records import OutcomeReader, open_run

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CupelError(f"{folder}: {error.strerror or error}") from error
    name, reader = _definition_name(client, run), OutcomeReader(client, run, rescore_id)
    with open_run(reader) as opened:
        for number, column in enumerate(columns_of(run)):
            with written_file(folder / inspect_log.file_name(run, column, number)) as unfinished:
                inspect_log.write(opened.records(column), run, name, number, unfinished)
    return reader


def _definition_name(client: "Client", run: Json) -> str:
    from cupel.errors import ApiProblem
    from cupel.exports.records import NOT_FOUND

    try:
        return str(client.get_definition(run["definitionId"])["name"])
    except ApiProblem as problem:
        if problem.status != NOT_FOUND:
            raise
        return str(run["definitionId"])
