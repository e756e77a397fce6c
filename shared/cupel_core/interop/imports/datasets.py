from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from sys import maxsize
from typing import Any, NamedTuple

from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.domain.definitions.datasets import EXPECTED_ANSWER, DatasetFormat, DatasetOptions, DatasetScorer
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedSuite, ImportReport
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Scenario
from cupel_core.domain.scoring.assertion_rules import AssertionIssue, assertion_issues
from cupel_core.domain.scoring.assertion_values import missing_variables
from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.interop.imports.files import NO_FILES, FileSource
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json, to_json
from cupel_core.interop.imports.media import ImportedMedia
from cupel_core.interop.imports.multiple_choice import choice_assertions, read_choices, with_choices
from cupel_core.interop.imports.recognition import (
    is_inspect_sample,
    lm_eval_fields,
    refuse_columns,
    refuse_other_row,
    refuse_other_text,
)
from cupel_core.interop.imports.rows import TableRow, read_csv, read_json
from cupel_core.interop.imports.sample_messages import read_messages
from cupel_core.interop.imports.samples import Notes, Sample, UsedNames, non_empty, sample_name, texts_of
from cupel_core.interop.imports.scorers import ideal_assertions, target_assertions
from cupel_core.interop.imports.table_rows import TableColumns, TableReader, find_columns, is_given, join_names


class InvalidAssertions(InvalidDocument):
    """The assertions of the options are invalid, and not the file. `issues` has their fields below `assertions`."""

    def __init__(self, issues: Sequence[AssertionIssue]) -> None:
        super().__init__(f"{issues[0].field}: {issues[0].message}")
        self.issues = issues


def read_dataset(
    text: str,
    kind: DatasetFormat,
    name: str,
    scorer: DatasetScorer | None = None,
    files: FileSource = NO_FILES,
    options: DatasetOptions = DatasetOptions(),  # noqa: B008 - frozen
) -> ImportedSuite:
    """Read all samples of a file.

    `files` gives access to the files beside it, to which the samples refer. Raises `InvalidDocument`, which names the
    first invalid row.
    """
    refuse_other_text(text)
    if issues := assertion_issues(list(options.assertions)):
        raise InvalidAssertions(issues)
    report = ImportReport()
    notes, media = Notes(report), ImportedMedia(files)
    rows = _filled(_rows(text, kind), notes)
    chosen = list(_chosen(rows, options))
    located = list(_scenarios(chosen, kind, scorer, options, notes, media))
    scenarios = tuple(scenario for _, scenario in located)
    if not scenarios:
        raise InvalidDocument(_why_empty(options, next(iter(_rows(text, kind)), None)))
    _check_variables(options, located)
    notes.add_to_report()
    report.count_imported("scenarios", len(scenarios))
    content: dict[str, Any] = {"maxTurns": 1}
    if options.assertions:
        content["assertions"] = [dict(each) for each in options.assertions]
    draft = DefinitionDraft(name, content, scenarios, tags=(str(kind),))
    return ImportedSuite((draft,), report, data_urls=media.data_urls, places=tuple(where for where, _ in located))


def _check_variables(options: DatasetOptions, located: Sequence[tuple[str, Scenario]]) -> None:
    for number, assertion in enumerate(options.assertions):
        for where, scenario in located:
            for name in missing_variables(assertion.get("value"), scenario.variables):
                found = f"Columns found: {join_names(scenario.variables)}"
                message = f"{where} of the table has no column {name}. {found}"
                raise InvalidAssertions([AssertionIssue(f"assertions.{number}.value", message)])


def _chosen(rows: Iterator[TableRow], options: DatasetOptions) -> Iterator[TableRow]:
    end = None if options.limit is None else min(options.offset + options.limit, maxsize)
    return islice(rows, min(options.offset, maxsize), end)


def _why_empty(options: DatasetOptions, first: TableRow | None) -> str:
    if first is None:
        return "the file has no samples"
    return f"there are no samples after the first {options.offset:,}" if options.offset else "the file has no samples"


def _rows(text: str, kind: DatasetFormat) -> Iterator[TableRow]:
    if text.lstrip("\N{BYTE ORDER MARK} \t\r\n")[:1] in ("[", "{"):
        return read_json(text)
    if kind in (DatasetFormat.CSV, DatasetFormat.INSPECT) or not text.strip():
        return read_csv(text)
    raise InvalidDocument("is not JSON, which begins with { or [; import a table with `cupel import csv`")


def _filled(rows: Iterable[TableRow], notes: Notes) -> Iterator[TableRow]:
    for row in rows:
        if row.is_empty:
            notes.skip(row.where, "row", "it is empty")
        elif row.repeats_names:
            notes.skip(row.where, "row", "it has the names of the columns once more")
        else:
            yield row


def _scenarios(
    rows: list[TableRow],
    kind: DatasetFormat,
    scorer: DatasetScorer | None,
    options: DatasetOptions,
    notes: Notes,
    media: ImportedMedia,
) -> Iterator[tuple[str, Scenario]]:
    if len(rows) > MAX_SCENARIOS:
        more = f"the file has {len(rows):,} samples; a definition has at most {MAX_SCENARIOS:,}"
        raise InvalidDocument(f"{more}: use --limit and --offset")
    reader = _reader_of(rows, kind, options)
    exported: set[Any] = set()
    names = UsedNames()
    compares = not options.has_checks or scorer is not None
    for where, fields in rows:
        if _is_errored(fields):
            notes.skip(where, "output", "it is an error without the question")
            continue
        if _is_repeated(fields, exported):
            notes.change(where, "output", "it is another answer to a sample above, which is imported once")
            continue
        scenario = reader.read(Sample(where, fields, scorer, notes, media, compares))
        if (name := names.add(scenario.name)) != scenario.name:
            notes.change(where, "id", "an earlier row has it, so a number is added to the scenario's name")
            scenario = replace(scenario, name=name)
        _check(scenario, where, fields, reader.columns)
        if not scenario.assertions and not options.has_checks:
            notes.skip(where, EXPECTED_ANSWER, "there is none, so nothing checks the answer")
        yield where, scenario


def _check(scenario: Scenario, where: str, fields: Mapping[str, Any], columns: TableColumns) -> None:
    from cupel_core.interop.imports.admission import (
        scenario_problems,  # The contract is loaded only here.
    )

    if reason := json_limit_error(scenario.variables):
        raise InvalidDocument(f"{where} {reason}")
    for problem in scenario_problems(scenario):
        field, message = problem.field, problem.message
        column = _column_of(field, scenario, fields, columns)
        if column is None:
            raise InvalidDocument(f"{where}: {field} {message}")
        place = "" if isinstance(fields[column], str) and field.startswith("messages.") else f" ({field})"
        raise InvalidDocument(f"{where}: the column {column}{place} {message}")


def _column_of(field: str, scenario: Scenario, fields: Mapping[str, Any], columns: TableColumns) -> str | None:
    names = {"messages": columns.input, "assertions": columns.answer, "name": columns.id}.get(field.split(".")[0], ())
    is_system = field.startswith("messages.0") and scenario.messages[0].role is MessageRole.SYSTEM
    return next((name for name in (*columns.system * is_system, *names) if is_given(fields.get(name))), None)


class _Reader(NamedTuple):
    """Reads the samples of a file. `columns` are those from which `read` makes a scenario's prompt, answer and name."""

    read: Callable[[Sample], Scenario]
    columns: TableColumns


_INSPECT_COLUMNS = TableColumns(("input",), ("target",), ("id",))
_OPENAI_COLUMNS = TableColumns(("input",), ("ideal",), ())


def _reader_of(rows: list[TableRow], kind: DatasetFormat, options: DatasetOptions) -> _Reader:
    """Return the function that makes a scenario of a row. Logs of other tools are recognized by their first row."""
    if kind is DatasetFormat.INSPECT or (rows and is_inspect_sample(rows[0].fields)):
        return _Reader(_inspect_scenario, _INSPECT_COLUMNS)
    if kind is DatasetFormat.OPENAI_EVALS:
        return _Reader(_openai_scenario, _OPENAI_COLUMNS)
    for row in rows[:1]:
        refuse_other_row(row.fields, row.where)
        if len(rows) == 1:
            refuse_columns(row.fields)
    given = dict.fromkeys(name for row in rows for name, value in row.fields.items() if is_given(value))
    empty = dict.fromkeys(name for row in rows for name in row.fields if name not in given)
    is_lm_eval = bool(rows) and lm_eval_fields(rows[0].fields, rows[0].where) is not None
    columns = find_columns(given, options.columns, empty=empty, needs_input=bool(rows) and not is_lm_eval)
    return _Reader(TableReader(columns).read, columns)


def _is_errored(fields: Mapping[str, Any]) -> bool:
    item, output = fields.get("item"), fields.get("sample")
    is_unasked = isinstance(item, Mapping) and not item.get("input")
    return is_unasked and isinstance(output, Mapping) and bool(output.get("error"))


def _is_repeated(fields: Mapping[str, Any], exported: set[Any]) -> bool:
    if is_inspect_sample(fields):
        return fields.get("epoch") != 1
    item = fields.get("item")
    key = item.get("scenario_id") if isinstance(item, Mapping) else None
    if not isinstance(key, str):
        position = next((fields[name] for name in _POSITIONS if name in fields), None)
        if position is None or not isinstance(item, Mapping):
            return False
        key = f"{position} {to_json(item)}"
    is_repeated = key in exported
    exported.add(key)
    return is_repeated


def _inspect_scenario(sample: Sample) -> Scenario:
    """Read a sample of Inspect. Choices and metadata may be texts, as in a table: `a,b,c` and JSON."""
    where, fields = sample.where, sample.fields
    for name in sorted({"sandbox", "files", "setup"} & {name for name, value in fields.items() if value}):
        sample.notes.skip(where, name, "a scenario does not run programs")
    choices, metadata = read_choices(fields.get("choices"), sample).texts, fields.get("metadata") or {}
    if isinstance(metadata, str):
        metadata = from_json(metadata, f"{where}: metadata")
    if not isinstance(metadata, Mapping):
        raise InvalidDocument(f"{where}: metadata must be an object")
    targets = texts_of(fields.get("target"))
    asked = _with_attachments(fields.get("input"), fields.get("attachments"))
    chat = read_messages(asked, sample, has_answer=bool(targets))
    targets = targets or texts_of(chat.answer)
    messages = chat.messages
    if choices:
        target = targets if isinstance(fields.get("target"), list) else "".join(targets)
        messages = (*messages[:-1], with_choices(messages[-1], choices, target, where))
        assertions = choice_assertions(target, choices)
    else:
        assertions = target_assertions(targets, sample)
    answered = {"target": chat.answer} if chat.answer else {}
    own = {**non_empty(fields, "id", "target"), **answered, **({"choices": choices} if choices else {})}
    return Scenario("", sample_name(fields.get("id")), messages, metadata={**metadata, **own}, assertions=assertions)


_ATTACHMENT = "attachment://"


def _with_attachments(value: Any, attachments: Any) -> Any:
    if not isinstance(attachments, Mapping):
        return value
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_with_attachments(each, attachments) for each in value]
    if isinstance(value, Mapping):
        return {name: _with_attachments(each, attachments) for name, each in value.items()}
    return value


def _openai_scenario(sample: Sample) -> Scenario:
    """Read a sample, or an output item of an eval run, which has the sample in its `item`."""
    item, output = sample.fields.get("item"), sample.fields.get("sample")
    if isinstance(item, Mapping) and not item.get("input") and isinstance(output, Mapping):
        return _output_item_scenario(item, output, sample)
    fields = item if isinstance(item, Mapping) else sample.fields
    ideal = texts_of(fields.get("ideal"))
    chat = read_messages(fields.get("input"), sample, has_answer=bool(ideal))
    ideal = ideal or texts_of(chat.answer)
    assertions = ideal_assertions(ideal, sample)
    others = {name: value for name, value in fields.items() if name not in ("input", "ideal")}
    answered = {"ideal": chat.answer} if chat.answer else {}
    metadata = {**others, **non_empty(fields, "ideal"), **answered}
    return Scenario("", "", chat.messages, metadata=metadata, assertions=assertions)


def _output_item_scenario(item: Mapping[str, Any], output: Mapping[str, Any], sample: Sample) -> Scenario:
    """Read an item of OpenAI's dashboard, whose fields are the eval's own.

    If the item says which messages were sent for the recorded answer, the scenario has these.
    """
    asked = output.get("input") or [{"role": "user", "content": to_json(item)}]
    answer = output.get("output_text") or output.get("output")
    graded = {**sample.fields, "model": output.get("model"), "output": answer}
    recorded = non_empty(graded, "model", "output", "grades", "passes", *_POSITIONS)
    metadata: dict[str, object] = {"vars": {"item": dict(item)}, "openai": recorded}
    return Scenario("", "", read_messages(asked, sample, has_answer=True).messages, metadata=metadata)


_POSITIONS = ("data_source_idx", "datasource_item_id")
