"""Scenario items from a CSV or JSONL text, line by line: what a line holds, or what is wrong with it.

CSV columns: `prompt` or `messages` (JSON), `name`, `dimension:<name>`, `metadata:<key>`, the other fields of an item by
their names (`assertions` is JSON, `personaIds` are separated by commas), and the bare name of a dimension that the
definition has; an empty cell is a field that is not given. JSONL: an object per line.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from io import StringIO
from math import isfinite
from typing import Any, NamedTuple

from cupel_core.domain.text.json_limits import unfit
from cupel_core.domain.text.templates import normal_name


class Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


class Line(NamedTuple):
    """The item that begins on line `number` (from 1), or the problem with it. What an item must have is not checked."""

    number: int
    item: Mapping[str, Any] | None
    problem: str | None = None


class Wrong(ValueError):
    """What a person should change about one line."""


def lines(text: str, text_format: Format, dimensions: Iterable[str] = ()) -> Iterator[Line]:
    """`dimensions`: the definition's, for the columns that are named like them. Blank lines are left out."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    return _csv_lines(text, dimensions) if text_format is Format.CSV else _jsonl_lines(text)


def _jsonl_lines(text: str) -> Iterator[Line]:
    # Not splitlines: a JSON text may hold U+2028 and others that it would split at.
    for number, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            yield _line(number, _json_object, content)


def _csv_lines(text: str, dimensions: Iterable[str]) -> Iterator[Line]:
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    number = 1
    try:
        columns = _columns(next(rows, []), {normal_name(name): name for name in dimensions})
        number = rows.line_num + 1
        for row in rows:
            if row:
                yield _line(number, columns.item, row)
            number = rows.line_num + 1
    except Wrong as wrong:
        yield Line(1, None, str(wrong))
    except csv.Error as error:
        yield Line(number, None, f"is not valid CSV: {error}")


def _line[T](number: int, read: Callable[[T], Mapping[str, Any]], content: T) -> Line:
    try:
        return Line(number, read(content))
    except Wrong as wrong:
        return Line(number, None, str(wrong))


class _Column(NamedTuple):
    """Where a column's cells go: a field of the item, and the key in it where the field is an object."""

    field: str
    key: str | None = None


class _Columns(tuple[_Column, ...]):
    def item(self, row: list[str]) -> Mapping[str, Any]:
        if len(row) != len(self):
            raise Wrong(f"has {len(row)} cells where the header has {len(self)}")
        item: dict[str, Any] = {}
        for column, cell in zip(self, row, strict=True):
            if cell.strip():
                _put(item, column, cell)
        return item


_READERS: Mapping[str, Callable[[str], Any]] = {
    "messages": lambda cell: _json(cell, "messages"),
    "assertions": lambda cell: _json(cell, "assertions"),
    "maxMessages": lambda cell: _json(cell, "maxMessages"),
    "personaIds": lambda cell: [each.strip() for each in cell.split(",") if each.strip()],
    "failureCriteriaMode": str.strip,
}
_FIELDS = frozenset({*_READERS, "prompt", "name", "instructions", "successCriteria", "failureCriteria"})
_BEGINNINGS = frozenset({"prompt", "messages", "instructions"})


def _put(item: dict[str, Any], column: _Column, cell: str) -> None:
    if column.key is None:
        item[column.field] = _READERS[column.field](cell) if column.field in _READERS else cell
    else:
        value = _number(column.key, cell) if column.field == "dimensions" else cell
        item.setdefault(column.field, {})[column.key] = value


def _columns(header: list[str], dimensions: Mapping[str, str]) -> _Columns:
    columns = _Columns(_column(name.strip(), dimensions) for name in header)
    for number, column in enumerate(columns):
        if column in columns[:number]:
            raise Wrong(f"the column {header[number].strip()} is there twice")
    if not _BEGINNINGS & {column.field for column in columns}:
        raise Wrong("the header must have a column prompt, messages or instructions")
    return columns


def _column(name: str, dimensions: Mapping[str, str]) -> _Column:
    kind, _, key = name.partition(":")
    if key and kind in ("dimension", "metadata"):
        known = dimensions.get(normal_name(key), key.strip())
        return _Column("dimensions", known) if kind == "dimension" else _Column("metadata", key.strip())
    if name in _FIELDS:
        return _Column(name)
    if normal_name(name) in dimensions:
        return _Column("dimensions", dimensions[normal_name(name)])
    raise Wrong(f"the column {name or '(without a name)'} is not known")


def _number(name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise Wrong(f"the score of dimension {name} must be a number, not {cell.strip()[:40]}")
    return int(value) if value.is_integer() else value


def _json_object(text: str) -> Mapping[str, Any]:
    data = _json(text, "the line")
    if not isinstance(data, dict):
        raise Wrong("must be a JSON object")
    return data


def _json(text: str, what: str) -> Any:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise Wrong(f"{what} must be valid JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise Wrong(f"{what} must be valid JSON: it is nested too deeply") from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise Wrong(f"{what} must be valid JSON: {error}") from None
    if why := unfit(data):
        raise Wrong(f"{what} {why}")
    return data
