"""`cupel export`: the transcripts of a run as a file that other programs read."""

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated

import typer

from cupel import render
from cupel.commands.options import AsJson, RunId
from cupel.documents import Json
from cupel.errors import CupelError, WrongUse
from cupel.session import Session


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


_COLUMNS = (
    "probeIndex",
    "scenarioId",
    "modelId",
    "modelVersion",
    "decisionCode",
    "decisionText",
    "success",
    "score",
    "reason",
    "turnCount",
    "inputTokens",
    "outputTokens",
    "durationMs",
    "costUsd",
    "createdAt",
    "answer",
)


def export(
    ctx: typer.Context,
    run_id: RunId,
    file_format: Annotated[Format, typer.Option("--format", help="jsonl has whole conversations, csv last answers.")],
    output: Annotated[Path | None, typer.Option(help="Write to this file, not to standard output.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's transcripts as JSON lines or CSV, without the definition snapshot that they share."""
    session = ctx.ensure_object(Session)
    if as_json and output is None:
        raise WrongUse("--json needs --output: the transcripts themselves go to standard output otherwise")
    with session.connect() as client:
        run = client.run(run_id)
        with _opened(output) as file:
            written = _write(client.transcripts(run_id), file, file_format)
    if as_json:
        session.print_json({"runId": run_id, "format": file_format, "output": str(output), "transcripts": written})
    without = run["progress"]["total"] - written
    missing = f"; {without:,} probes have none" if without else ""
    session.remark(f"{written:,} transcripts{f' in {output}' if output else ''}{missing}")


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    """A file appears under its name when it is whole."""
    if output is None:
        yield sys.stdout
        return
    unfinished = output.with_name(f"{output.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            yield file
        unfinished.replace(output)
    except OSError as error:
        raise CupelError(f"{output}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write(transcripts: Iterator[Json], file: IO[str], file_format: Format) -> int:
    if file_format is Format.JSONL:
        return sum(1 for transcript in transcripts if file.write(_line(transcript)))
    rows = csv.DictWriter(file, _COLUMNS, extrasaction="ignore", lineterminator="\n")
    rows.writeheader()
    return sum(1 for transcript in transcripts if rows.writerow(_row(transcript)))


def _line(transcript: Json) -> str:
    kept = {name: value for name, value in transcript.items() if name != "definitionSnapshot"}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def _row(transcript: Json) -> Json:
    """Fields of transcript, usage and result side by side; an absent one is empty."""
    result, usage = transcript.get("result") or {}, transcript.get("usage") or {}
    return {**transcript, **usage, **result, "answer": render.last_answer(transcript)}
