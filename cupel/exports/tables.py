"""JSON Lines with whole conversations, and CSV with last answers.

A spreadsheet executes a cell that begins like a formula, and models, scenarios and judges write the texts of this
table, so such a cell begins with an apostrophe, as OWASP recommends, and has no control characters, which some readers
refuse and which would control a terminal. JSON Lines contain every text unchanged.
"""

import csv
from collections.abc import Iterator
from typing import IO

from cupel.json_types import Json
from cupel.printable import printable, printable_json
from cupel.render import last_answer

_COLUMNS = (
    "probeIndex",
    "scenarioId",
    "personaId",
    "modelId",
    "modelVersion",
    "decisionCode",
    "decisionText",
    "success",
    "score",
    "reason",
    "tags",
    "omittedParameters",
    "turnCount",
    "inputTokens",
    "outputTokens",
    "durationMs",
    "costUsd",
    "createdAt",
    "answer",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
"""The last four are full-width forms, which spreadsheets in some languages treat alike."""


def write_jsonl(transcripts: Iterator[Json], file: IO[str]) -> int:
    return sum(1 for transcript in transcripts if file.write(_line(transcript)))


def write_csv(transcripts: Iterator[Json], file: IO[str]) -> int:
    rows = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
    rows.writeheader()
    return sum(1 for transcript in transcripts if rows.writerow(_row(transcript)))


def _line(transcript: Json) -> str:
    exported = {name: value for name, value in transcript.items() if name != "definitionSnapshot"}
    return printable_json(exported) + "\n"


def _row(transcript: Json) -> Json:
    """Columns from transcript, usage and result; missing values are empty."""
    result, usage = transcript.get("result") or {}, transcript.get("usage") or {}
    tags = " ".join((transcript.get("scoring") or {}).get("tags") or ())
    omitted = " ".join(transcript.get("omittedParameters") or ())
    row = {**transcript, **usage, **result, "tags": tags, "answer": last_answer(transcript)}
    row["omittedParameters"] = omitted
    return {name: _cell(row.get(name)) for name in _COLUMNS}


def _cell(value: object) -> object:
    """Numbers stay numbers, negative ones too: only texts can be formulas."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
