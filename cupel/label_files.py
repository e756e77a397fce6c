"""Reads labels from a table, and names the rows that a request refuses."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json

_COLUMNS = {
    "probe": "probeId",
    "scenario": "scenario",
    "model": "model",
    "prompt": "promptId",
    "persona": "personaId",
    "repeat": "repeat",
    "criterion": "criterion",
    "label": "value",
    "labeller": "labeller",
    "note": "note",
    "verdict_visible": "verdictVisible",
}
"""The field of a request that each column is."""
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class LabelRow(NamedTuple):
    place: str
    """Says where the row is, such as `row 3 (line 4)`."""
    label: Json


def label_rows(rows: Iterable[Mapping[str, object]]) -> list[LabelRow]:
    """Return the labels of mappings with the same columns as a file. Raise UsageError."""
    labels = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise UsageError(f"labels: row {number}: must be a mapping with {', '.join(_COLUMNS)}: found {row!r:.100}")
        cells = {column: "" if value is None else str(value) for column, value in row.items()}
        _check_columns(f"labels: row {number}", [column for column, cell in cells.items() if cell])
        labels.append(LabelRow(f"row {number}", _label(f"labels: row {number}", cells)))
    return labels


def read_labels(file: Path) -> list[LabelRow]:
    """Read a table as imports of scenarios do: any common separator and encoding. Raise UsageError."""
    from cupel_core.interop.imports.json_documents import InvalidDocument
    from cupel_core.interop.imports.rows import read_csv
    from cupel_core.interop.imports.text_files import decode_text

    try:
        rows = list(read_csv(decode_text(file.read_bytes())))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error
    except InvalidDocument as error:
        raise UsageError(f"{file}: {error}") from error
    if not rows:
        raise UsageError(f"{file}: has no row below its header")
    _check_columns(file, list(rows[0].fields))
    return [LabelRow(row.where, _label(f"{file} {row.where}", row.fields)) for row in rows if not row.is_empty]


def named_rows(file: Path, problem: ApiProblem, rows: Sequence[LabelRow]) -> UsageError:
    """Return the errors of a request with these rows, each with its row and column."""
    columns = {field: column for column, field in _COLUMNS.items()}
    lines = []
    for error in problem.errors:
        name, _, rest = error.field.partition(".")
        number, _, field = rest.partition(".")
        if name == "labels" and number.isdigit():
            column = f" {columns.get(field, field)}" if field else ""
            lines.append(f"{rows[int(number)].place}{column}: {error.message}")
        else:
            lines.append(f"{error.field}: {error.message}")
    return UsageError(f"{file}: " + "; ".join(lines or [problem.detail or problem.title]))


def _check_columns(file: Path | str, columns: Sequence[str]) -> None:
    unknown = [column for column in columns if column not in _COLUMNS]
    if unknown or "label" not in columns or not {"probe", "scenario"} & set(columns):
        raise UsageError(
            f"{file}: the columns must be label and probe, or label and scenario, and no others than "
            f"{', '.join(_COLUMNS)}: found {', '.join(columns)}"
        )


def _label(place: str, cells: Mapping[str, str]) -> Json:
    label: Json = {_COLUMNS[column]: cell.strip() for column, cell in cells.items() if cell.strip()}
    if (repeat := label.get("repeat")) is not None:
        if not (repeat.isascii() and repeat.isdigit()):
            raise UsageError(f"{place}: repeat must be a number from 0: found {repeat}")
        label["repeat"] = int(repeat)
    if (visible := label.get("verdictVisible")) is not None:
        if visible.lower() not in _FLAGS:
            raise UsageError(f"{place}: verdict_visible must be true or false: found {visible}")
        label["verdictVisible"] = _FLAGS[visible.lower()]
    return label
