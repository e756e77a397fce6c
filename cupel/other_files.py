"""Recognizes files that are no definition files, and says what to do instead of running them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cupel.errors import UsageError
from cupel.scenario_tables import SUFFIXES, format_of
from cupel.source_files import SourceFile, refuse_binary
from cupel.table_files import PARQUET

_TEXTS = frozenset({".txt", ".json"})
"""Other files may have these endings."""
_PROGRAMS = {".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".ts": "TypeScript", ".ipynb": "a notebook"}
_HEAD_BYTES = 4_000


def refuse_other_files(paths: Iterable[Path]) -> None:
    """Raise UsageError for other files by their names and first bytes, before a stack is needed."""
    for path in paths:
        if path.is_file():
            refuse_other_kind(path)
            if path.stem.lower().endswith("promptfooconfig"):
                refuse_other_document(path, SourceFile.read(path).document)


def refuse_other_kind(path: Path) -> None:
    """Raise UsageError for a file whose name or first bytes show that it is no definition file."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in SUFFIXES.keys() - _TEXTS:
        raise _table(path)
    if suffix in _PROGRAMS:
        raise UsageError(f"{path}: is {_PROGRAMS[suffix]}, not a definition file; programs call `cupel.evaluate`")
    if path.is_file():
        with path.open("rb") as file:
            refuse_binary(path, file.read(_HEAD_BYTES))


def refuse_other_document(path: Path, document: Any) -> None:
    """Raise UsageError for a parsed file of another tool, and for a list of samples."""
    if isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        if path.suffix.lower() in (".yaml", ".yml"):
            raise UsageError(f"{path}: is a list; a definition file has it under `scenarios:`, each with a `prompt`")
        raise _table(path)
    if isinstance(document, dict) and "content" not in document and (kind := _kind_of_document(document)):
        raise UsageError(f"{path}: is {kind.replace('FILE', str(path))}")


def _kind_of_document(document: Mapping[str, Any]) -> str | None:
    names = document.keys()
    is_configuration = "prompts" in names and not names.isdisjoint(_PROMPTFOO_FIELDS)
    is_result = "results" in names and isinstance(document.get("config"), dict)
    if is_configuration or is_result:
        return (
            f"a {'result' if is_result else 'configuration'} file of promptfoo; import it with "
            "`cupel import promptfoo FILE`; to run it --in-process, write a definition file with --output NEW"
        )
    if {"eval", "samples"} <= names:
        return "a log of Inspect; import its samples with `cupel import inspect FILE`"
    if {"results", "versions"} <= names:
        return (
            "a result file of lm-evaluation-harness, which has figures only; import samples with "
            "`cupel import jsonl samples_….jsonl`, which it writes with --log_samples"
        )
    return None


_PROMPTFOO_FIELDS = ("providers", "targets", "tests", "defaultTest")


def _table(path: Path) -> UsageError:
    suffix = path.suffix.lower()
    kind = "a log of Inspect" if suffix == ".eval" else "a table"
    source_format = PARQUET if suffix == ".parquet" else format_of(path.name)
    return UsageError(
        f"{path}: is {kind}, not a definition file. Run a file with `scenarios: {path.name}` and a name beside it, or "
        f"import it with `cupel import {source_format} {path}`"
    )
