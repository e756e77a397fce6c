"""Reads the rows of a table: CSV with any common separator, JSON Lines, a JSON array, or JSON values one after another.

A file is read whole or not at all. The error names the first unreadable row and what to change.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from itertools import chain, islice
from typing import Any, NamedTuple, NoReturn

from cupel_core.interop.imports.json_documents import InvalidDocument, to_plain_json, without_duplicates
from cupel_core.interop.imports.table_rows import normalize_column

SEPARATORS = (",", ";", "\t", "|")
_BYTE_ORDER_MARK = "\N{BYTE ORDER MARK}"
_BLANKS = re.compile(r"[ \t\r\n]*")
_SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?(?:\r\n?|\n)', re.IGNORECASE)
_MAX_SHOWN = 60
_MAX_LINE = 1_000
_MAX_DIGITS = 100
_SNIFFED_ROWS = 20
_OPEN_LIST = "the list, which has no ] at its end"
_WRAPPERS = ("data", "rows", "examples", "samples", "instances", "questions")


class TableRow(NamedTuple):
    where: str
    fields: Mapping[str, Any]

    @property
    def is_empty(self) -> bool:
        return all(value is None or (isinstance(value, str) and not value.strip()) for value in self.fields.values())

    @property
    def repeats_names(self) -> bool:
        return len(self.fields) > 1 and all(value == name for name, value in self.fields.items())


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
    """Return the separator that makes the most cells of the header; one that also fits the first rows is preferred."""
    return max(SEPARATORS, key=lambda separator: _cells_by(separator, text))


def _cells_by(separator: str, text: str) -> tuple[bool, int]:
    """Return whether all of the first rows have as many cells as the header, and more than one, and how many it has."""
    records = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        counts = [len(cells) for cells in islice(records, _SNIFFED_ROWS) if cells]
    except csv.Error:
        return False, 0
    return counts[0] > 1 and len(set(counts)) == 1, counts[0]


def _records(text: str, separator: str, skipped_lines: int) -> Iterator[tuple[int, list[str]]]:
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1 + skipped_lines
        raise InvalidDocument(f"line {line} has a NUL character, so this is not a text; remove it from the file")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
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
    return (
        f'line {line:,} has a quote within a quoted cell; it must be doubled: "say ""hi""". If it ends the cell, the '
        "separator must follow at once"
    )


def _column_names(header: list[str]) -> list[str]:
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
    """Return the row without unnamed columns, such as the row numbers that pandas writes."""
    where = f"row {number:,} (line {line:,})"
    while len(cells) > len(names) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != len(names) and any(cell.strip() for cell in cells):
        more = "; a cell with the separator or a line break needs quotes" if len(cells) > len(names) else ""
        if len(names) == 1:
            more = f"; is the first line, “{names[0][:_MAX_SHOWN]}”, the one of names?"
        raise InvalidDocument(f"{where} has {len(cells)} cells where the header has {len(names)}{more}")
    return TableRow(where, {name: cell for name, cell in zip(names, cells, strict=False) if name})


def read_json(text: str) -> Iterator[TableRow]:
    """Read the rows of JSON Lines, an array, or objects one after another, over any number of lines.

    Raises `InvalidDocument`, which names the line.
    """
    document = _JsonText(text.removeprefix(_BYTE_ORDER_MARK))
    if document.is_at_end:
        raise InvalidDocument("the file is empty")
    if document.take("["):
        return _array_rows(document)
    line, value = document.line, document.read_value()
    items = _wrapped(value)
    if items is None:
        return (_json_row(f"line {line:,}", each) for line, each in chain([(line, value)], _values(document)))
    if not document.is_at_end:
        raise InvalidDocument(f"line {document.line:,} follows an object with a list of rows, which must be alone")
    return (_json_row(f"sample {number:,}", each) for number, each in enumerate(items, start=1))


def _array_rows(document: "_JsonText") -> Iterator[TableRow]:
    number = 0
    while not document.take("]"):
        if number and not document.take(","):
            raise InvalidDocument(document.separator_problem(number))
        number += 1
        where = f"sample {number:,} (line {document.line:,})"
        yield _json_row(where, document.read_value())
    if not document.is_at_end:
        raise InvalidDocument(f"line {document.line:,} follows the end of the list; a row is an object in the list")


def _values(document: "_JsonText") -> Iterator[tuple[int, Any]]:
    while not document.is_at_end:
        if document.take(","):
            raise InvalidDocument(
                f"line {document.line:,} follows a comma behind a row: JSON Lines have none, and a list begins with ["
            )
        yield document.line, document.read_value()


def _wrapped(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    if len(value) == 1 and [] in value.values() and value.keys() <= set(_WRAPPERS):
        return []
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


class _JsonText:
    """Reads JSON values one after another. Its errors name the line where something is missing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text.rstrip())
        self._position = self._counted = 0
        self._line = 1
        self._decoder = json.JSONDecoder(
            parse_constant=_refuse_constant, parse_int=_parse_integer, object_pairs_hook=without_duplicates
        )
        self._skip_blanks()

    @property
    def is_at_end(self) -> bool:
        return self._position >= self._end

    @property
    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line

    def take(self, character: str) -> bool:
        if not self._text.startswith(character, self._position):
            return False
        self._position += 1
        self._skip_blanks()
        return True

    def read_value(self) -> Any:
        """Read the next value. Raises `InvalidDocument`, also at the end of the text, where a list is not closed."""
        if self.is_at_end:
            raise InvalidDocument(self._cut_off(_OPEN_LIST))
        try:
            value, self._position = self._decoder.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            raise InvalidDocument(self._problem(error)) from None
        except RecursionError:
            raise InvalidDocument(f"line {self.line:,} is nested too deeply") from None
        except ValueError as error:
            raise InvalidDocument(f"line {self.line:,}: {error}") from None
        self._skip_blanks()
        return value

    def separator_problem(self, number: int) -> str:
        if self.is_at_end:
            return self._cut_off(_OPEN_LIST)
        before = self._line_of(len(self._text[: self._position].rstrip()))
        return f"line {before:,}: between the samples {number:,} and {number + 1:,}, a comma is missing"

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self._text, self._position)
        self._position = blanks.end() if blanks else self._position

    def _problem(self, error: json.JSONDecodeError) -> str:
        start, line, shown = self.line, self._line_of(min(error.pos, self._end)), self._shown(error.pos)
        row = "the row" if line == start else f"the row that starts on line {start:,}"
        if shown.startswith(("{'", "[{'")):
            return f"line {line:,} has single quotes, as Python prints a dict; write it with `json.dumps`: {shown}"
        if error.pos >= self._end or error.msg.startswith("Unterminated"):
            return self._cut_off(row)
        if self._is_first_line_broken(error.pos):
            return f"line {start:,} ends in the middle of the row: {self._shown(self._position)}"
        if error.msg.startswith("Invalid control character") and self._text[error.pos] in "\r\n":
            return f"line {line:,} ends in the middle of a text; write a line break as \\n: {shown}"
        before = self._text[self._position : error.pos].rstrip()
        if "\n" in self._text[self._position + len(before) : error.pos] and self._is_separator_missing(error):
            end = self._position + len(before)
            return f"line {self._line_of(end):,} lacks a comma or a bracket at its end, in {row}: {self._shown(end)}"
        of_row = "" if line == start else f" (of {row})"
        return f"line {line:,}{of_row} is not valid JSON: {error.msg}: {shown}"

    def _cut_off(self, what: str) -> str:
        return f"line {self._line_of(self._end):,}, the last one, ends in the middle of {what}: the file was cut off"

    def _is_separator_missing(self, error: json.JSONDecodeError) -> bool:
        return "delimiter" in error.msg or ("property name" in error.msg and self._text[error.pos] == "{")

    def _is_first_line_broken(self, position: int) -> bool:
        """Return whether the value goes on behind its first line although the next one is an object by itself."""
        end = self._text.find("\n", self._position)
        blanks = _BLANKS.match(self._text, end)
        if not 0 <= end < position or blanks is None:
            return False
        try:
            value, after = self._decoder.raw_decode(self._text, blanks.end())
        except (ValueError, RecursionError):
            return False
        is_line = "\n" not in self._text[blanks.end() : after] and self._text[after : after + 1] in ("", "\r", "\n")
        return is_line and isinstance(value, dict)

    def _line_of(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def _shown(self, position: int) -> str:
        start = self._text.rfind("\n", 0, position) + 1
        line = self._text[start : start + max(_MAX_LINE, position - start + _MAX_SHOWN)].split("\n", 1)[0]
        if position - start < _MAX_SHOWN:
            return line.strip()[:_MAX_SHOWN]
        return f"…{line[position - start - _MAX_SHOWN // 2 :][:_MAX_SHOWN].strip()}"


def _parse_integer(digits: str) -> int:
    """Parse an integer. One with more digits than Python converts is cut; `json_limit_error` refuses it by its
    field."""
    return int(digits[:_MAX_DIGITS])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON; a missing value is null")
