"""`cupel export`: the transcripts of a run as files that other programs read."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson, RunId
from cupel.errors import CupelError, WrongUse
from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    INSPECT = "inspect"
    PROMPTFOO = "promptfoo"
    OPENAI_EVALS = "openai-evals"


_ABOUT = (
    "jsonl has whole conversations, csv last answers; inspect writes an .eval log per model into a folder; "
    "promptfoo's results and openai-evals' output items also have the probes that failed."
)


def export(
    ctx: typer.Context,
    run_id: RunId,
    file_format: Annotated[Format, typer.Option("--format", help=_ABOUT)],
    output: Annotated[Path | None, typer.Option(help="Write to this file or folder, not to standard output.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's transcripts in a format of Cupel's or of another tool."""
    session = ctx.ensure_object(Session)
    if as_json and output is None:
        raise WrongUse("--json needs --output: the transcripts themselves go to standard output otherwise")
    with session.connect() as client:
        run = client.run(run_id)
        if file_format is Format.INSPECT:
            if output is None:
                raise WrongUse("--format inspect needs --output: the folder for its logs")
            written = _write_logs(client, run, output)
        else:
            with _opened(output) as file:
                written = _write(client, run, file, file_format)
    if as_json:
        session.print_json({"runId": run_id, "format": file_format, "output": str(output), "transcripts": written})
    _remark(session, run, written, output)


def _remark(session: Session, run: Json, written: int, output: Path | None) -> None:
    without = run["progress"]["total"] - written
    missing = f"; {without:,} probes have none" if without > 0 else ""
    session.remark(f"{written:,} transcripts{f' in {output}' if output else ''}{missing}")


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    with _finished(output) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _finished(output: Path) -> Iterator[Path]:
    """A file appears under its name when it is whole."""
    unfinished = output.with_name(f"{output.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(output)
    except OSError as error:
        raise CupelError(f"{output}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write(client: "Client", run: Json, file: IO[str], file_format: Format) -> int:
    from cupel.exports import openai_evals, promptfoo_results, tables
    from cupel.exports.records import reading

    match file_format:
        case Format.JSONL:
            return tables.write_jsonl(client.transcripts(run["id"]), file)
        case Format.CSV:
            return tables.write_csv(client.transcripts(run["id"]), file)
    with reading(client, run) as read:
        if file_format is Format.OPENAI_EVALS:
            openai_evals.write(read.records(), run, file)
        else:
            promptfoo_results.write(read.records(), run, _name(client, run), file)
    return read.transcripts


def _write_logs(client: "Client", run: Json, folder: Path) -> int:
    from cupel.exports import inspect_log
    from cupel.exports.records import reading

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CupelError(f"{folder}: {error.strerror or error}") from error
    name = _name(client, run)
    with reading(client, run) as read:
        for number, model in enumerate(run["config"]["models"]):
            with _finished(folder / inspect_log.file_name(run, model, number)) as unfinished:
                inspect_log.write(read.records(model), run, name, number, unfinished)
    return read.transcripts


def _name(client: "Client", run: Json) -> str:
    """The definition's; a deleted one's id."""
    from cupel.errors import ApiProblem
    from cupel.exports.records import NOT_FOUND

    try:
        return str(client.definition(run["definitionId"])["name"])
    except ApiProblem as problem:
        if problem.status != NOT_FOUND:
            raise
        return str(run["definitionId"])
