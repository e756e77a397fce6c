"""Reads the text of a table in a file: CSV, JSON, samples of a log of Inspect, or rows of a Parquet file as JSON."""

import datetime
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from cupel.extras import require_extra
from cupel_core.domain.definitions.datasets import DatasetOptions

PARQUET = "parquet"
_SIGNATURE = b"PAR1"
_BATCH_ROWS = 100
"""A dictionary in a Parquet file may repeat one long text in every row, so few rows are in memory at a time."""


def table_text(content: bytes, options: DatasetOptions) -> str:
    """Return the text of a table, of which at most the rows of the options are needed.

    Raises `InvalidDocument`, which says what the file is instead, and UsageError if a package is missing.
    """
    from cupel_core.interop.imports.text_files import decode_text

    if not content.startswith(_SIGNATURE):
        return decode_text(content)
    require_extra(PARQUET, "reading a Parquet file")
    return _parquet_text(content, None if options.limit is None else options.offset + options.limit)


def _parquet_text(content: bytes, needed: int | None) -> str:
    """Return the rows as a JSON array with a row on each line, so that the number of a line is that of its row."""
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

    from cupel_core.interop.imports.json_documents import InvalidDocument
    from cupel_core.interop.imports.text_files import MAX_BYTES

    lines: list[str] = []
    size = filled = 0
    try:
        with ParquetFile(pyarrow.BufferReader(content)) as file:
            _check_names(file.schema_arrow.names)
            for row in _rows(file):
                lines.append(json.dumps(row, ensure_ascii=False))
                size += len(lines[-1])
                filled += any(value is not None and value != "" for value in row.values())
                if size > MAX_BYTES:
                    raise InvalidDocument(f"has rows of more than {MAX_BYTES:,} characters; use --limit and --offset")
                if filled == needed:
                    break
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidDocument(f"is a damaged Parquet file: {error}") from None
    return f"[{',\n'.join(lines)}]"


def _check_names(names: list[str]) -> None:
    from cupel_core.interop.imports.json_documents import InvalidDocument

    for number, name in enumerate(names):
        if name in names[:number]:
            raise InvalidDocument(f"has two columns named {name}; rename one of them")


def _rows(file: Any) -> Iterator[dict[str, Any]]:
    number = 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS):
        for row in batch.to_pylist():
            number += 1
            yield {name: _plain(value, f"row {number:,}: the column {name}") for name, value in row.items()}


def _plain(value: Any, where: str) -> Any:
    """Convert a value to JSON: times as in ISO 8601, decimals as their digits, and NaN, for a missing number, as null.

    Raises `InvalidDocument` for binary data that is not text.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(each, where) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(each, where) for name, each in value.items()}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return _text_of_bytes(value, where) if isinstance(value, bytes) else str(value)


def _text_of_bytes(value: bytes, where: str) -> str:
    from cupel_core.interop.imports.json_documents import InvalidDocument

    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidDocument(
            f"{where} has binary data, such as an image, which is not imported; write a file without it: "
            "`pandas.read_parquet(file).drop(columns=[…]).to_parquet(new)`"
        ) from None
