"""Reads CSV as promptfoo's parser does: quotes that are not doubled are text, and cells may have any length.

Python's own reader refuses such quotes, and cells beyond a limit that applies to the whole process.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cupel_core.interop.imports.json_documents import InvalidDocument

_QUOTE = '"'
_END_OF_UNQUOTED = {
    "": re.compile(r"[,\r\n]"),
    "\n": re.compile(r"[,\n]"),
    "\r": re.compile(r"[,\r]"),
    "\r\n": re.compile(r",|\r\n"),
}
"""It has an expression for the end of a cell by the text's line end, which is the first one outside quotes; before that
is found, any line end ends a cell."""
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')


class CsvRecord(NamedTuple):
    line: int
    """The record begins on this line."""
    cells: list[str]


class _CsvCell(NamedTuple):
    text: str
    end: int
    """It is the position after the cell."""


def read_records(text: str, name: str) -> Iterator[CsvRecord]:
    """Read the records of a text, without blank lines. Raises `InvalidDocument` for a quote that is never closed."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    line_end, position, line = "", 0, 1
    while position < len(text):
        start, cells, is_blank = position, [], False
        while True:
            is_quoted = text.startswith(_QUOTE, position)
            cell = _quoted(text, position, line_end, name) if is_quoted else _unquoted(text, position, line_end)
            cells.append(cell.text)
            position = cell.end
            if not text.startswith(",", position):
                is_blank = cells == [""] and not is_quoted
                break
            position += 1
        line_end = line_end or _line_end(text, position)
        position += len(line_end)
        if not is_blank:
            yield CsvRecord(line, cells)
        line += len(re.findall(r"\r\n|\n|\r", text[start:position]))


def _unquoted(text: str, start: int, line_end: str) -> _CsvCell:
    found = _END_OF_UNQUOTED[line_end].search(text, start)
    end = found.start() if found else len(text)
    return _CsvCell(text[start:end], end)


def _quoted(text: str, start: int, line_end: str, name: str) -> _CsvCell:
    """Read a cell in quotes. If the quotes end before the cell does, they are part of its text."""
    match = _QUOTED.match(text, start)
    if match is None:
        line = 1 + len(re.findall(r"\r\n|\n|\r", text[:start]))
        raise InvalidDocument(f"{name} line {line} has a quote that is never closed")
    content = match[1].replace('""', _QUOTE)
    if match.end() == len(text) or _END_OF_UNQUOTED[line_end].match(text, match.end()):
        return _CsvCell(content, match.end())
    rest = _unquoted(text, match.end(), line_end)
    return _CsvCell(f"{_QUOTE}{content}{_QUOTE}{rest.text}", rest.end)


def _line_end(text: str, position: int) -> str:
    return next((each for each in ("\r\n", "\n", "\r") if text.startswith(each, position)), "")
