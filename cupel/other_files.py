"""Files that are no definition files, and what to do with them instead of running them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cupel.errors import UsageError
from cupel.scenario_tables import SUFFIXES, format_of
from cupel.source_files import SourceFile

_TEXTS = frozenset({".txt", ".json"})
"""Endings that may be those of other files."""


def refuse_other_files(paths: Iterable[Path]) -> None:
    """UsageError for tables and files of promptfoo by their names, before a stack is needed."""
    for path in paths:
        if path.is_file():
            refuse_table(path)
            if path.stem.lower().endswith("promptfooconfig"):
                refuse_other_document(path, SourceFile.read(path).document)


def refuse_table(path: Path) -> None:
    """UsageError for a file whose name says that it is a table."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in SUFFIXES.keys() - _TEXTS:
        raise _table(path)
    if suffix == ".parquet":
        to_json = 'to_json("rows.jsonl", orient="records", lines=True)'
        raise UsageError(f"{path}: is a table; convert it with `pandas.read_parquet(file).{to_json}`, and import that")


def refuse_other_document(path: Path, document: Any) -> None:
    """UsageError for a parsed file of promptfoo, and for a list of samples."""
    if isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        raise _table(path)
    if not isinstance(document, dict) or "content" in document:
        return
    is_configuration = "prompts" in document and not document.keys().isdisjoint(_PROMPTFOO_FIELDS)
    is_result = "results" in document and isinstance(document.get("config"), dict)
    if is_configuration or is_result:
        raise UsageError(
            f"{path}: is a {'result' if is_result else 'configuration'} file of promptfoo; import it with "
            f"`cupel import promptfoo {path}`; to run it --in-process, write a definition file with --output FILE"
        )


_PROMPTFOO_FIELDS = ("providers", "targets", "tests", "defaultTest")


def _table(path: Path) -> UsageError:
    return UsageError(
        f"{path}: is a table, not a definition file. Run a file with `scenarios: {path.name}` and a name beside it, or "
        f"import it with `cupel import {format_of(path.name)} {path}`"
    )
