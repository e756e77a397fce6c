"""Reads tables of tests as promptfoo does: the records of CSV, and assertions in `__expected` columns.

Quotes in CSV that are not doubled are text, and cells may have any length. Python's own reader refuses such quotes, and
cells beyond a limit that applies to the whole process.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cupel_core.interop.imports.json_documents import InvalidDocument

_TYPES = [
    "agent-rubric",
    "answer-relevance",
    "bleu",
    "classifier",
    "contains",
    "contains-all",
    "contains-any",
    "contains-html",
    "contains-json",
    "contains-sql",
    "contains-xml",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "cost",
    "equals",
    "factuality",
    "finish-reason",
    "g-eval",
    "gleu",
    "guardrails",
    "icontains",
    "icontains-all",
    "icontains-any",
    "is-html",
    "is-json",
    "is-refusal",
    "is-sql",
    "is-valid-function-call",
    "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
    "is-xml",
    "javascript",
    "latency",
    "levenshtein",
    "llm-rubric",
    "pi",
    "meteor",
    "model-graded-closedqa",
    "model-graded-factuality",
    "moderation",
    "perplexity",
    "perplexity-score",
    "python",
    "regex",
    "rouge-n",
    "ruby",
    "similar",
    "similar:cosine",
    "similar:dot",
    "similar:euclidean",
    "starts-with",
    "tool-call-f1",
    "skill-used",
    "trajectory:goal-success",
    "trajectory:tool-args-match",
    "trajectory:step-count",
    "trajectory:tool-sequence",
    "trajectory:tool-used",
    "trace-error-spans",
    "trace-span-count",
    "trace-span-duration",
    "search-rubric",
    "webhook",
    "word-count",
]
_CELL = re.compile(rf"(not-)?({'|'.join(_TYPES)})(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_LISTS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_WITH_THRESHOLD = frozenset(
    [
        "answer-relevance",
        "classifier",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "cost",
        "latency",
        "levenshtein",
        "perplexity-score",
        "perplexity",
        "rouge-n",
        "similar",
        "starts-with",
    ]
)
_DEFAULT_THRESHOLD, _SIMILARITY_THRESHOLD = 0.75, 0.8
_SCRIPTS = ("javascript:", "fn:", "eval:")
_CONFIG = re.compile(r"__config:__expected([1-9]\d*)?:threshold")
_QUOTE = '"'
_END_OF_UNQUOTED = {
    "": re.compile(r"[,\r\n]"),
    "\n": re.compile(r"[,\n]"),
    "\r": re.compile(r"[,\r]"),
    "\r\n": re.compile(r",|\r\n"),
}
"""Maps the text's line end to an expression for the end of a cell.

The text's line end is the first one outside quotes; before that is found, any line end ends a cell.
"""
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')


def read_rows(text: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV text as mappings by header, each with its first line number. Raises `InvalidDocument`."""
    records = read_records(text, name)
    header = next(records, CsvRecord(1, [])).cells
    if repeated := [column for column, count in Counter(map(str.strip, header)).items() if column and count > 1]:
        raise InvalidDocument(f"{name} has two columns that are named {repeated[0]}, of which only one would be read")
    for line, cells in records:
        if len(cells) != len(header):
            raise InvalidDocument(f"{name} line {line} has {len(cells)} cells, but the header has {len(header)}")
        yield line, dict(zip(header, cells, strict=True))


def row_to_test(row: Mapping[str, str]) -> dict[str, Any]:
    """Convert a row to a test as it would be written in YAML. Raises `InvalidDocument` for an invalid cell."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    thresholds: dict[int, float] = {}
    for column, cell in ((name.strip(), cell) for name, cell in row.items()):
        if column.startswith("__config:"):
            thresholds |= _threshold(column, cell)
        else:
            _add_cell(test, column, cell)
    metric = test.pop("metric", None)
    for number, assertion in enumerate(test["assert"]):
        if metric:
            assertion["metric"] = metric
        if number in thresholds:
            assertion["threshold"] = thresholds[number]
    return test


def _add_cell(test: dict[str, Any], column: str, cell: str) -> None:
    if column.startswith("__expected"):
        if cell.strip():
            test["assert"].append(parse_assertion(cell.strip()))
    elif column in ("__prefix", "__suffix"):
        test["options"][column[2:]] = cell
    elif column in ("__description", "__metric", "__providerOutput"):
        if cell:
            test[column[2:]] = cell
    elif column == "__threshold":
        if (threshold := _number(cell)) is not None:
            test["threshold"] = threshold
    elif column.startswith("__metadata"):
        if cell.strip() and column.startswith("__metadata:"):
            test["metadata"] |= _metadata(column.removeprefix("__metadata:"), cell)
    else:
        test["vars"][column] = cell


def _metadata(key: str, cell: str) -> dict[str, Any]:
    if not key.endswith("[]"):
        return {key: cell}
    return {key[:-2]: [part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", cell)]}


def _threshold(column: str, cell: str) -> dict[int, float]:
    match, threshold = _CONFIG.fullmatch(column), _number(cell)
    if not match or threshold is None:
        raise InvalidDocument(f"the column {column} must be named __config:__expected<n>:threshold and contain numbers")
    return {int(match[1] or 1) - 1: threshold}


def _number(cell: str) -> float | None:
    if not _NUMBER.fullmatch(cell.strip()):
        return None
    value = float(cell)
    return int(value) if value.is_integer() else value


def parse_assertion(cell: str) -> dict[str, Any]:
    """Parse an assertion such as `contains: yes`, `not-icontains-any: a,b`, `similar(0.8): text` or `grade: rubric`.

    Any other text means `equals`.
    """
    if script := next((start for start in _SCRIPTS if cell.startswith(start)), None):
        return {"type": "javascript", "value": cell.removeprefix(script).strip()}
    if cell.startswith("file://") and re.search(r"\.[cm]?[jt]s(:|$)", cell):
        return {"type": "javascript", "value": cell}
    if cell.startswith("python:") or (cell.startswith("file://") and re.search(r"\.py(:|$)", cell)):
        return {"type": "python", "value": cell.removeprefix("python:").strip()}
    for start in ("grade:", "llm-rubric:"):
        if cell.startswith(start):
            return {"type": "llm-rubric", "value": cell.removeprefix(start)}
    match = _CELL.fullmatch(cell)
    return _typed_assertion(*match.groups()) if match else {"type": "equals", "value": cell}


def _typed_assertion(negation: str | None, kind: str, threshold: str | None, value: str | None) -> dict[str, Any]:
    assertion: dict[str, Any] = {"type": f"{negation or ''}{kind}"}
    if value is not None:
        if kind in _LISTS:
            assertion["value"] = split_list(value)
        else:
            assertion["value"] = value if kind in ("contains-json", "is-json") else value.strip()
    if kind in _WITH_THRESHOLD:
        number = _number(threshold or "")
        default = _SIMILARITY_THRESHOLD if kind == "similar" else _DEFAULT_THRESHOLD
        assertion["threshold"] = default if number is None else number
    return assertion


def split_list(text: str) -> list[str]:
    parts: list[str] = []
    remaining = text.lstrip(", \t\r\n")
    while remaining:
        if remaining[0] == '"':
            quoted = re.match(r'"((?:[^"\\]|""|\\.)*)"\s*(?=,|$)', remaining, re.DOTALL)
            if not quoted:
                raise InvalidDocument(f"a quoted text in {text[:40]!r} is not closed before the next comma")
            parts.append(re.sub(r'""|\\(["\\])', lambda match: match[1] or '"', quoted[1]))
            remaining = remaining[quoted.end() :]
        else:
            part, _, remaining = remaining.partition(",")
            parts.append(part.strip())
        remaining = remaining.lstrip(", \t\r\n")
    return parts


class CsvRecord(NamedTuple):
    line: int
    cells: list[str]


class _CsvCell(NamedTuple):
    text: str
    end: int


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
