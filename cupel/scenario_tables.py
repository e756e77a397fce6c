"""Reads the scenarios of a definition file that names a table: `scenarios: support.csv`, or a mapping."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, NamedTuple, TypeGuard

from cupel.definition_texts import scenario_fields
from cupel.errors import RefusedField, UsageError
from cupel.json_types import Json
from cupel.table_files import table_text
from cupel_core.domain.definitions.datasets import (
    EXPECTED_ANSWER,
    ColumnMapping,
    DatasetFormat,
    DatasetOptions,
    DatasetScorer,
)
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.domain.text.near_names import unknown_field_message
from cupel_core.domain.text.validation_messages import of_missing

FIELDS = ("file", "input", "answer", "id", "scorer", "limit", "offset", "format")
_COLUMNS = ("input", "answer", "id")
SUFFIXES = {
    ".csv": DatasetFormat.CSV,
    ".tsv": DatasetFormat.CSV,
    ".tab": DatasetFormat.CSV,
    ".txt": DatasetFormat.CSV,
    ".jsonl": DatasetFormat.JSONL,
    ".ndjson": DatasetFormat.JSONL,
    ".json": DatasetFormat.JSONL,
    ".parquet": DatasetFormat.JSONL,
    ".eval": DatasetFormat.INSPECT,
}


@dataclass(frozen=True)
class ScenarioTable:
    file: str
    options: DatasetOptions
    scorer: DatasetScorer | None
    format: DatasetFormat


@dataclass
class _TableProblems:
    listed: list[RefusedField] = field(default_factory=list)

    def add(self, name: str, message: str) -> None:
        self.listed.append(RefusedField(f"scenarios.{name}".rstrip("."), message))


def is_table(value: Any) -> TypeGuard[str | Mapping[str, Any]]:
    return isinstance(value, str | Mapping)


class LoadedScenarios(NamedTuple):
    scenarios: list[Json]
    places: tuple[str, ...]
    """The place of each scenario, such as `support.csv row 3 (line 4)`."""
    warnings: tuple[str, ...]


def load_scenarios(value: str | Mapping[str, Any], folder: Path, content: Mapping[str, Any]) -> LoadedScenarios:
    """Return the scenarios of the table, whose path is relative to the folder of the definition file.

    If the content has assertions, these check the answers instead of a comparison, unless the table names a scorer.
    Raises `InvalidTable` for errors in the file, and UsageError for the table itself.
    """
    from cupel_core.interop.imports.datasets import read_dataset
    from cupel_core.interop.imports.json_documents import InvalidDocument

    table = _parse({"file": value} if isinstance(value, str) else value)
    path = folder / table.file
    try:
        text = table_text(_read_table(path), table.options)
        options = replace(table.options, is_checked_elsewhere=bool(content.get("assertions")))
        suite = read_dataset(text, table.format, path.stem, table.scorer, options=options)
    except OSError as error:
        raise InvalidTable([RefusedField("scenarios.file", f"{path}: {error.strerror or error}")]) from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    except InvalidDocument as error:
        raise UsageError(f"{path}: {_in_file_words(str(error))}") from None
    if suite.data_urls:
        raise UsageError(f"{path}: has images or files; write it into a definition file with `cupel import --output`")
    scenarios = [scenario_fields(scenario.to_json()) for scenario in suite.drafts[0].scenarios]
    places = tuple(f"{table.file} {place}" for place in suite.places)
    warnings = _warnings(table.file, suite.report, has_decision=bool(content.get("decision")))
    return LoadedScenarios(scenarios, places, tuple(warnings))


def _warnings(file: str, report: ImportReport, *, has_decision: bool) -> Iterator[str]:
    for note in (*report.skipped, *report.changed):
        if not (has_decision and note.what == EXPECTED_ANSWER):
            yield f"{file} {note.where}: {note.what}: {note.why}"


def _read_table(path: Path) -> bytes:
    """Read an ordinary file. Another user's definition file may name a device, whose content never ends.

    Raises OSError.
    """
    try:
        status = path.stat()
    except ValueError as error:  # The name has a NUL character.
        raise OSError(str(error)) from None
    if not S_ISREG(status.st_mode) and not S_ISDIR(status.st_mode):
        raise OSError("is not an ordinary file")
    return path.read_bytes()


class InvalidTable(ValueError):
    """Fields of `scenarios` are invalid."""

    def __init__(self, problems: list[RefusedField]) -> None:
        super().__init__("; ".join(f"{each.field}: {each.message}" for each in problems))
        self.problems = problems


def _parse(value: Mapping[str, Any]) -> ScenarioTable:
    problems = _TableProblems()
    for name in sorted(map(str, value.keys() - set(FIELDS))):
        problems.add(name, unknown_field_message(name, FIELDS, {}))
    texts = {name: value.get(name) for name in ("file", *_COLUMNS) if name in value}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            problems.add(name, of_missing(text, "must be non-empty text"))
    if "file" not in value:
        problems.add("file", of_missing(None, "must be the path of a table (.csv, .jsonl, …)"))
    limit, offset = value.get("limit"), value.get("offset", 0)
    if limit is not None and (not _is_count(limit) or limit < 1):
        problems.add("limit", "must be a whole number from 1")
    if not _is_count(offset):
        problems.add("offset", "must be a whole number from 0")
    scorer = _member(DatasetScorer, value, "scorer", problems)
    table_format = _member(DatasetFormat, value, "format", problems) or format_of(str(value.get("file")))
    if problems.listed:
        raise InvalidTable(problems.listed)
    columns = ColumnMapping(*(texts.get(name) for name in _COLUMNS))
    return ScenarioTable(str(value["file"]), DatasetOptions(columns, limit, offset), scorer, table_format)


def format_of(file: str) -> DatasetFormat:
    return SUFFIXES.get(Path(file.lower().removesuffix(".gz")).suffix, DatasetFormat.CSV)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _member[E: (DatasetScorer, DatasetFormat)](
    kind: type[E], value: Mapping[str, Any], name: str, problems: _TableProblems
) -> E | None:
    given = value.get(name)
    if given is None:
        return None
    if given not in list(kind):
        problems.add(name, f"must be one of {', '.join(kind)}")
        return None
    return kind(given)


def _in_file_words(message: str) -> str:
    for name in _COLUMNS:
        message = message.replace(f"--{name} COLUMN", f"`{name}: COLUMN`").replace(f"--{name}:", f"{name}:")
    return message.replace("--limit and --offset", "`limit` and `offset`")
