"""Reads the rows of a table: CSV with any common separator, JSON Lines, a JSON array, or JSON values one after another.

A file is read whole or not at all: the first row that cannot be read is named, with what to change.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from itertools import chain
from typing import Any, NamedTuple, NoReturn

from cupel_core.imports.column_names import normalize_column
from cupel_core.imports.json_documents import InvalidDocument, to_plain_json

SEPARATORS = (",", ";", "\t", "|")
_BYTE_ORDER_MARK = "\N{BYTE ORDER MARK}"
_BLANKS = re.compile(r"[ \t\r\n]*")
_SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?(?:\r\n?|\n)', re.IGNORECASE)
_MAX_SHOWN = 60
_MAX_LINE = 1_000
_WRAPPERS = ("data", "rows", "examples", "samples", "instances", "questions")
"""A JSON object may have its list of rows in one of these fields."""


class TableRow(NamedTuple):
    where: str
    """Messages name the row by this text, such as `line 3`."""
    fields: Mapping[str, Any]

    @property
    def is_empty(self) -> bool:
        return all(value is None or (isinstance(value, str) and not value.strip()) for value in self.fields.values())


def read_csv(text: str) -> Iterator[TableRow]:
    """Read the rows of a table with a header; cells are texts. Raises `InvalidDocument`."""
    text = text.removeprefix(_BYTE_ORDER_MARK)
    separator, skipped = None, 0
    if marked := _SEPARATOR_LINE.match(text):  # Excel reads and writes it.
        text, separator, skipped = text[marked.end() :], marked[1], 1
    if not text.strip():
        raise InvalidDocument("the file is empty")
    skipped += text.count("\n", 0, len(text) - len(text.lstrip("\r\n")))
    text = text.lstrip("\r\n")
    records = _records(text, separator or find_separator(text), skipped)
    _, header = next(records)
    names = _column_names(header)
    filled = ((line, cells) for line, cells in records if cells)
    return (_row(number, line, names, cells) for number, (line, cells) in enumerate(filled, start=1))


def find_separator(text: str) -> str:
    """Return the separator that makes the most cells of the header."""
    return max(SEPARATORS, key=lambda separator: len(next(csv.reader(StringIO(text, newline=""), delimiter=separator))))


def _records(text: str, separator: str, skipped_lines: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line on which it starts."""
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1 + skipped_lines
        raise InvalidDocument(f"line {line} has a NUL character, so this is not a text; remove it from the file")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1 + skipped_lines
    try:
        for record in reader:
            yield line, record
            line = reader.line_num + 1 + skipped_lines
    except csv.Error as error:
        raise InvalidDocument(_csv_problem(str(error), line, text)) from None


def _csv_problem(error: str, line: int, text: str) -> str:
    if "unexpected end of data" in error:
        return f"the row that starts on line {line:,} has a quote that is never closed"
    if '\\"' in text:
        return (
            f'line {line:,} has quotes behind backslashes, but a quote in a quoted cell is doubled: "say ""hi""". '
            'Convert the file with `pandas.read_csv(file, escapechar="\\\\").to_csv("new.csv", index=False)`'
        )
    return f'line {line:,} has a quote within a quoted cell; it must be doubled: "say ""hi""" ({error})'


def _column_names(header: list[str]) -> list[str]:
    """Return the names without the spaces around them; a column without a name has an empty one."""
    names = [name.strip() for name in header]
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        first = seen.setdefault(normalize_column(name), number)
        if name and first != number:
            raise InvalidDocument(f"the columns {first} and {number} are both named {name}; rename one of them")
    if not any(names):
        raise InvalidDocument("the first line has no names of columns")
    return names


def _row(number: int, line: int, names: list[str], cells: list[str]) -> TableRow:
    """Unnamed columns are left out, such as the row numbers that pandas writes."""
    where = f"row {number:,} (line {line:,})"
    while len(cells) > len(names) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != len(names) and any(cell.strip() for cell in cells):
        more = "; a cell with the separator or a line break needs quotes" if len(cells) > len(names) else ""
        raise InvalidDocument(f"{where} has {len(cells)} cells where the header has {len(names)}{more}")
    return TableRow(where, {name: cell for name, cell in zip(names, cells, strict=False) if name})


def read_json(text: str) -> Iterator[TableRow]:
    """Read the rows of JSON Lines, an array, or objects one after another, over any number of lines.

    Raises `InvalidDocument`, which names the line.
    """
    values = _json_values(text.removeprefix(_BYTE_ORDER_MARK))
    first = next(values, None)
    if first is None:
        raise InvalidDocument("the file is empty")
    line, value = first
    items = _wrapped(value)
    if items is None:
        return (_json_row(f"line {line:,}", each) for line, each in chain([(line, value)], values))
    if next(values, None) is not None:
        raise InvalidDocument(f"line {line:,} is a list, and more follows it; a row is an object")
    return (_json_row(f"sample {number:,}", each) for number, each in enumerate(items, start=1))


def _wrapped(value: Any) -> list[Any] | None:
    """Return the rows in an array, or in an object with one known list of rows; None for other values."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    lists = [value[name] for name in _WRAPPERS if _is_list_of_objects(value.get(name))]
    if len(lists) != 1:
        return None
    rows: list[Any] = lists[0]
    if all(isinstance(row.get("row"), dict) for row in rows):  # Hugging Face's dataset server wraps rows.
        return [row["row"] for row in rows]
    return rows


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _json_row(where: str, value: Any) -> TableRow:
    if not isinstance(value, dict):
        raise InvalidDocument(f"{where} is not an object")
    return TableRow(where, to_plain_json(value, where))


def _json_values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield each value with the line on which it starts."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    position, line, counted = _after_blanks(text, 0), 1, 0
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise InvalidDocument(_json_problem(text, error, line)) from None
        except RecursionError:
            raise InvalidDocument(f"line {line:,} is nested too deeply") from None
        except ValueError as error:
            raise InvalidDocument(f"line {line:,}: {error}") from None
        yield line, value
        position = _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _json_problem(text: str, error: json.JSONDecodeError, start: int) -> str:
    line_start = text.rfind("\n", 0, error.pos) + 1
    line = text[line_start : line_start + _MAX_LINE].split("\n", 1)[0]
    shown = line.strip()[:_MAX_SHOWN]
    if line.lstrip().startswith(("{'", "[{'")):
        return f"line {error.lineno:,} has single quotes, as Python prints a dict; write it with `json.dumps`: {shown}"
    value = "" if error.lineno == start else f" (of the value on line {start:,})"
    return f"line {error.lineno:,}{value} is not valid JSON: {error.msg}: {shown}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON; a missing value is null")
