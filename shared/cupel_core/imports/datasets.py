"""Reads samples in other tools' formats (Inspect, OpenAI evals, CSV, JSONL) as a definition with scenarios."""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from io import StringIO
from typing import Any

from cupel_core.deferred import dataclass
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.domain.definitions.drafts import MAX_SCENARIOS, DefinitionDraft, ImportedSuite, ImportReport
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.domain.turns.parts import TextPart
from cupel_core.imports.dataset_scorers import (
    choice_assertions,
    choice_prompt,
    choice_target_error,
    ideal_assertions,
    target_assertions,
)
from cupel_core.imports.files import NO_FILES, FileSource, NotImportable
from cupel_core.imports.json_documents import InvalidDocument, from_json, from_jsonl, to_json
from cupel_core.imports.media import ImportedMedia, read_content

_ROLES = {"developer": MessageRole.SYSTEM} | {str(role): role for role in MessageRole if role is not MessageRole.TOOL}


@dataclass
class _Notes:
    """What a report says once for all samples concerned: how many they are, and where the first is."""

    report: ImportReport
    counts: dict[tuple[str, str, bool], list[str]] = field(default_factory=dict)

    def change(self, where: str, what: str, why: str) -> None:
        self.counts.setdefault((what, why, True), []).append(where)

    def skip(self, where: str, what: str, why: str) -> None:
        self.counts.setdefault((what, why, False), []).append(where)

    def add_to_report(self) -> None:
        for (what, why, is_change), places in self.counts.items():
            more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
            note = self.report.note_change if is_change else self.report.skip
            note(f"{places[0]}{more}", what, why)


@dataclass(frozen=True)
class _Sample:
    """A sample as written, where it is, and how the import compares answers."""

    where: str
    fields: Mapping[str, Any]
    scorer: DatasetScorer | None
    notes: _Notes
    media: ImportedMedia


def read_dataset(
    text: str, kind: DatasetFormat, name: str, scorer: DatasetScorer | None = None, files: FileSource = NO_FILES
) -> ImportedSuite:
    """Read all samples of a file. Raises `InvalidDocument`, which names the first invalid line.

    `files` are those beside it, to which the samples refer.
    """
    report = ImportReport()
    notes = _Notes(report)
    media = ImportedMedia(files)
    scenarios = tuple(_scenarios(text, kind, scorer, notes, media))
    if not scenarios:
        raise InvalidDocument("the file has no samples")
    notes.add_to_report()
    report.count_imported("scenarios", len(scenarios))
    content: dict[str, Any] = {"maxTurns": 1}
    draft = DefinitionDraft(name, content, scenarios, tags=(str(kind),))
    return ImportedSuite((draft,), report, data_urls=media.data_urls)


def _scenarios(
    text: str, kind: DatasetFormat, scorer: DatasetScorer | None, notes: _Notes, media: ImportedMedia
) -> Iterator[Scenario]:
    read_scenario = _READERS[kind]
    exported: set[Any] = set()
    for count, (where, fields) in enumerate(_samples(text, kind), start=1):
        if count > MAX_SCENARIOS:
            raise InvalidDocument(f"the file has more than {MAX_SCENARIOS:,} samples, the maximum of an import")
        if not isinstance(fields, Mapping):
            raise InvalidDocument(f"{where} is not an object")
        if _is_errored(fields):
            notes.skip(where, "output", "it is an error without the question")
            continue
        if _is_repeated(fields, exported):
            notes.change(where, "output", "it is another answer to a sample above, which is imported once")
            continue
        scenario = read_scenario(_Sample(where, fields, scorer, notes, media))
        if reason := json_limit_error(scenario.metadata):
            raise InvalidDocument(f"{where}: metadata {reason}")
        if issues := assertion_issues([assertion.to_json() for assertion in scenario.assertions]):
            raise InvalidDocument(f"{where}: {issues[0].field} {issues[0].message}")
        if not scenario.assertions:
            notes.skip(where, "expected answer", "there is none, so nothing checks the answer")
        yield scenario


def _is_errored(fields: Mapping[str, Any]) -> bool:
    """Whether this is an output item of a probe that failed before anything was said."""
    item, output = fields.get("item"), fields.get("sample")
    is_unasked = isinstance(item, Mapping) and not item.get("input")
    return is_unasked and isinstance(output, Mapping) and bool(output.get("error"))


def _is_repeated(fields: Mapping[str, Any], exported: set[Any]) -> bool:
    """Whether this is another output item of a sample: an export has one per model and repeat."""
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


def _samples(text: str, kind: DatasetFormat) -> Iterator[tuple[str, Any]]:
    start = text.lstrip("\N{BYTE ORDER MARK} \t\r\n")[:1]
    if kind is DatasetFormat.CSV or (kind is DatasetFormat.INSPECT and start not in ("[", "{")):
        reader = csv.DictReader(StringIO(text.removeprefix("\N{BYTE ORDER MARK}"), newline=""), strict=True)
        try:
            yield from ((f"line {reader.line_num}", row) for row in reader)
        except csv.Error as error:
            raise InvalidDocument(f"line {reader.line_num} is not valid CSV: {error}") from None
    elif kind is DatasetFormat.INSPECT and start == "[":
        yield from ((f"sample {number}", sample) for number, sample in enumerate(from_json(text, "the file"), start=1))
    else:
        yield from ((f"line {number}", sample) for number, sample in from_jsonl(text, "the file"))


def _inspect_scenario(sample: _Sample) -> Scenario:
    """Choices and metadata may be texts, as in a table: `a,b,c` and JSON."""
    where, fields = sample.where, sample.fields
    for name in sorted({"sandbox", "files", "setup"} & {name for name, value in fields.items() if value}):
        sample.notes.skip(where, name, "a scenario does not run programs")
    choices, metadata = _choices(fields.get("choices")), fields.get("metadata") or {}
    if isinstance(metadata, str):
        metadata = from_json(metadata, f"{where}: metadata")
    if not isinstance(choices, list) or not isinstance(metadata, Mapping):
        raise InvalidDocument(f"{where}: choices must be a list or a text, and metadata an object")
    messages = _messages(_input(fields), sample)
    targets = _texts(fields.get("target"))
    if choices:
        target = targets if isinstance(fields.get("target"), list) else "".join(targets)
        messages = (*messages[:-1], _with_choices(messages[-1], choices, target, where))
        assertions = choice_assertions(target, choices)
    else:
        assertions = target_assertions(targets, sample.scorer)
    all_metadata = {**metadata, **_non_empty(fields, "id", "target"), **({"choices": choices} if choices else {})}
    return Scenario("", _name(fields.get("id")), messages, metadata=all_metadata, assertions=assertions)


def _choices(value: Any) -> Any:
    """As Inspect reads them: a text is separated by commas, or by spaces if it has none."""
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        return [part.strip() for part in parts if part.strip()]
    return value or []


def _input(fields: Mapping[str, Any]) -> Any:
    """Messages in a table are JSON."""
    value = fields.get("input")
    is_json = isinstance(value, str) and value.lstrip().startswith('[{"role"')
    return from_json(value, "input") if is_json and isinstance(value, str) else value


def _with_choices(message: Message, choices: list[Any], target: str | list[str], where: str) -> Message:
    """With the prompt of Inspect's `multiple_choice()` as its text; files follow it."""
    if error := choice_target_error(target, choices):
        raise InvalidDocument(f"{where} has choices, so it {error}")
    asked = TextPart(choice_prompt(message.spoken_text, choices, target))
    return Message.of_parts(message.role, (asked, *message.files))


def _openai_scenario(sample: _Sample) -> Scenario:
    """A sample, or an output item of an eval run, which has the sample in its `item`."""
    item, output = sample.fields.get("item"), sample.fields.get("sample")
    if isinstance(item, Mapping) and not item.get("input") and isinstance(output, Mapping):
        return _output_item_scenario(item, output, sample)
    fields = item if isinstance(item, Mapping) else sample.fields
    ideal = _texts(fields.get("ideal"))
    assertions = ideal_assertions(ideal, sample.scorer)
    others = {name: value for name, value in fields.items() if name not in ("input", "ideal")}
    metadata = {**others, **_non_empty(fields, "ideal")}
    return Scenario("", "", _messages(fields.get("input"), sample), metadata=metadata, assertions=assertions)


def _output_item_scenario(item: Mapping[str, Any], output: Mapping[str, Any], sample: _Sample) -> Scenario:
    """An item of OpenAI's dashboard, whose fields are the eval's own: asked as the recorded answer was, if it says."""
    asked = output.get("input") or [{"role": "user", "content": to_json(item)}]
    answer = output.get("output_text") or output.get("output")
    graded = {**sample.fields, "model": output.get("model"), "output": answer}
    recorded = _non_empty(graded, "model", "output", "grades", "passes", *_POSITIONS)
    metadata: dict[str, object] = {"vars": {"item": dict(item)}, "openai": recorded}
    return Scenario("", "", _messages(asked, sample), metadata=metadata)


def _row_scenario(sample: _Sample) -> Scenario:
    """A row with a question, and optionally the expected answer; the other columns become metadata."""
    where, fields = sample.where, sample.fields
    question_column = next((name for name in ("input", "prompt", "messages", "question") if fields.get(name)), None)
    answer_column = next((name for name in ("target", "ideal", "expected", "answer") if fields.get(name)), None)
    if question_column is None:
        raise InvalidDocument(f"{where} needs a column input, prompt, messages or question")
    if None in fields or None in fields.values():
        raise InvalidDocument(f"{where} has more or fewer cells than the header")
    metadata = {name: value for name, value in fields.items() if name not in (question_column, "id", "name") and value}
    question = fields[question_column]
    if question_column == "messages" and isinstance(question, str):
        question = from_json(question, where)
    assertions = target_assertions(_texts(fields.get(answer_column or "")), sample.scorer)
    name = _name(fields.get("name") or fields.get("id"))
    return Scenario("", name, _messages(question, sample), metadata=metadata, assertions=assertions)


_POSITIONS = ("data_source_idx", "datasource_item_id")
"""What an output item of OpenAI's calls its row of the data."""

type _Reader = Callable[[_Sample], Scenario]
_READERS: Mapping[DatasetFormat, _Reader] = {
    DatasetFormat.INSPECT: _inspect_scenario,
    DatasetFormat.OPENAI_EVALS: _openai_scenario,
    DatasetFormat.CSV: _row_scenario,
    DatasetFormat.JSONL: _row_scenario,
}


def _messages(value: Any, sample: _Sample) -> tuple[Message, ...]:
    """Their messages. A model answers a user, so of system messages only, the last one becomes the user's."""
    if isinstance(value, str) and value.strip():
        return (Message(MessageRole.USER, value),)
    if not isinstance(value, list) or not value:
        raise InvalidDocument(f"{sample.where}: input must be a text or a list of messages, and not empty")
    messages = tuple(_message(item, sample) for item in value)
    if any(message.role is not MessageRole.SYSTEM for message in messages):
        return messages
    sample.notes.change(
        sample.where, "system message", "there is no user message, so the last one is sent as the user's"
    )
    return (*messages[:-1], Message(MessageRole.USER, messages[-1].content))


def _message(value: Any, sample: _Sample) -> Message:
    where = sample.where
    role = _ROLES.get(str(value.get("role"))) if isinstance(value, Mapping) else None
    if role is None:
        raise InvalidDocument(f"{where} has a message whose role is not system, developer, user or assistant")
    content = value.get("content")
    if isinstance(content, list):
        try:
            message = read_content(content, role, sample.media)
        except NotImportable as error:
            raise InvalidDocument(f"{where}: {error}") from None
        if message.parts:
            return message
        content = message.content
    if not isinstance(content, str) or not content.strip():
        raise InvalidDocument(f"{where} has a message whose content is not text or is empty")
    return Message(role, content)


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return [item if isinstance(item, str) else to_json(item) for item in values]


def _non_empty(sample: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: sample[name] for name in names if sample.get(name) not in (None, "", [])}


def _name(value: Any) -> str:
    return "" if value is None else single_line(str(value))[:500]
