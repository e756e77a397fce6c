"""Reads scenario items from CSV or JSONL text, line by line: the item of a line, or its error.

CSV columns are `prompt` or `messages` (JSON), `name`, `dimension:<name>`, `metadata:<key>`, the other fields of an item
by their names (`assertions` is JSON, `personaIds` are separated by commas), and the bare names of the definition's
dimensions; an empty cell is an omitted field. JSONL has one object per line.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from io import StringIO
from math import isfinite
from typing import Any, NamedTuple

from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.domain.text.templates import normalize_name

csv.field_size_limit(2**31 - 1)  # The length of a cell is bounded by that of the request.


class ImportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


class ImportLine(NamedTuple):
    """Contains the item that starts on line `number` (from 1), or its problem. Required fields are not checked here."""

    number: int
    item: Mapping[str, Any] | None
    problem: str | None = None


class LineError(ValueError):
    """One line has a problem; the message says what to change."""


def parse_lines(text: str, text_format: ImportFormat, dimensions: Iterable[str] = ()) -> Iterator[ImportLine]:
    """Yield the lines of the text without blank ones; `dimensions` has names that are accepted as columns."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    return _csv_lines(text, dimensions) if text_format is ImportFormat.CSV else _jsonl_lines(text)


def _jsonl_lines(text: str) -> Iterator[ImportLine]:
    # splitlines() would also split at U+2028 and other characters that JSON strings may contain.
    for number, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            yield _line(number, _json_object, content)


def _csv_lines(text: str, dimensions: Iterable[str]) -> Iterator[ImportLine]:
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    number = 1
    try:
        columns = _columns(next(rows, []), {normalize_name(name): name for name in dimensions})
        number = rows.line_num + 1
        for row in rows:
            if row:
                yield _line(number, columns.to_item, row)
            number = rows.line_num + 1
    except LineError as error:
        yield ImportLine(1, None, str(error))
    except csv.Error as error:
        yield ImportLine(number, None, f"is not valid CSV: {error}")


def _line[T](number: int, read: Callable[[T], Mapping[str, Any]], content: T) -> ImportLine:
    try:
        return ImportLine(number, read(content))
    except LineError as error:
        return ImportLine(number, None, str(error))


class _FileColumn(NamedTuple):
    """Names the target of a column's cells: a field of the item, and a key in it if the field is an object."""

    field: str
    key: str | None = None


class _Columns(tuple[_FileColumn, ...]):
    def to_item(self, row: list[str]) -> Mapping[str, Any]:
        if len(row) != len(self):
            raise LineError(f"has {len(row)} cells where the header has {len(self)}")
        item: dict[str, Any] = {}
        for column, cell in zip(self, row, strict=True):
            if cell.strip():
                _put(item, column, cell)
        return item


_READERS: Mapping[str, Callable[[str], Any]] = {
    "messages": lambda cell: _json(cell, "messages"),
    "assertions": lambda cell: _json(cell, "assertions"),
    "followUps": lambda cell: _json(cell, "followUps"),
    "maxMessages": lambda cell: _json(cell, "maxMessages"),
    "separateTurns": lambda cell: _json(cell, "separateTurns"),
    "personaIds": lambda cell: [part.strip() for part in cell.split(",") if part.strip()],
    "failureCriteriaMode": str.strip,
}
_FIELDS = frozenset({*_READERS, "prompt", "name", "instructions", "successCriteria", "failureCriteria"})
_OPENING_FIELDS = frozenset({"prompt", "messages", "instructions"})


def _put(item: dict[str, Any], column: _FileColumn, cell: str) -> None:
    if column.key is None:
        item[column.field] = _READERS[column.field](cell) if column.field in _READERS else cell
    else:
        value = _number(column.key, cell) if column.field == "dimensions" else cell
        item.setdefault(column.field, {})[column.key] = value


def _columns(header: list[str], dimensions: Mapping[str, str]) -> _Columns:
    columns = _Columns(_column(name.strip(), dimensions) for name in header)
    for number, column in enumerate(columns):
        if column in columns[:number]:
            raise LineError(f"duplicate column {header[number].strip()}")
    if not _OPENING_FIELDS & {column.field for column in columns}:
        raise LineError("the header must have a column prompt, messages or instructions")
    return columns


def _column(name: str, dimensions: Mapping[str, str]) -> _FileColumn:
    kind, _, key = name.partition(":")
    if key and kind in ("dimension", "metadata"):
        known = dimensions.get(normalize_name(key), key.strip())
        return _FileColumn("dimensions", known) if kind == "dimension" else _FileColumn("metadata", key.strip())
    if name in _FIELDS:
        return _FileColumn(name)
    if normalize_name(name) in dimensions:
        return _FileColumn("dimensions", dimensions[normalize_name(name)])
    raise LineError(f"unknown column {name or '(without a name)'}")


def _number(name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise LineError(f"the score of dimension {name} must be a number, not {cell.strip()[:40]}")
    return int(value) if value.is_integer() else value


def _json_object(text: str) -> Mapping[str, Any]:
    data = _json(text, "the line")
    if not isinstance(data, dict):
        raise LineError("must be a JSON object")
    return data


def _json(text: str, subject: str) -> Any:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise LineError(f"{subject} must be valid JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise LineError(f"{subject} must be valid JSON: it is nested too deeply") from None
    except ValueError as error:  # Python refuses integers of more than 4,300 digits
        raise LineError(f"{subject} must be valid JSON: {error}") from None
    if problem := json_limit_error(data):
        raise LineError(f"{subject} {problem}")
    return data
