"""Reads samples in other tools' formats (Inspect, OpenAI evals, CSV, JSONL) as a definition with scenarios."""

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from typing import Any

from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.domain.definitions.drafts import MAX_SCENARIOS, DefinitionDraft, ImportedSuite, ImportReport
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.imports.json_documents import InvalidDocument, escape_placeholders, from_json, from_jsonl, to_json

_ROLES = {"developer": MessageRole.SYSTEM} | {str(role): role for role in MessageRole}
_LETTERS = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]


def read_dataset(text: str, kind: DatasetFormat, name: str, scorer: DatasetScorer | None = None) -> ImportedSuite:
    """Read all samples of a file. Raises `InvalidDocument`, which names the first invalid line."""
    report = ImportReport()
    scenarios = tuple(_scenarios(text, kind, scorer, report))
    if not scenarios:
        raise InvalidDocument("the file has no samples")
    report.count_imported("scenarios", len(scenarios))
    content: dict[str, Any] = {"maxTurns": 1}
    return ImportedSuite((DefinitionDraft(name, content, scenarios, tags=(str(kind),)),), report)


def _scenarios(
    text: str, kind: DatasetFormat, scorer: DatasetScorer | None, report: ImportReport
) -> Iterator[Scenario]:
    read_scenario = _READERS[kind]
    for count, (where, sample) in enumerate(_samples(text, kind), start=1):
        if count > MAX_SCENARIOS:
            raise InvalidDocument(f"the file has more than {MAX_SCENARIOS:,} samples, the maximum of an import")
        if not isinstance(sample, Mapping):
            raise InvalidDocument(f"{where} is not an object")
        scenario = read_scenario(sample, where, scorer, report)
        if reason := json_limit_error(scenario.metadata):
            raise InvalidDocument(f"{where}: metadata {reason}")
        if issues := assertion_issues([assertion.to_json() for assertion in scenario.assertions]):
            raise InvalidDocument(f"{where}: {issues[0].field} {issues[0].message}")
        yield scenario


def _samples(text: str, kind: DatasetFormat) -> Iterator[tuple[str, Any]]:
    if kind is DatasetFormat.CSV:
        reader = csv.DictReader(StringIO(text.removeprefix("\N{BYTE ORDER MARK}"), newline=""), strict=True)
        try:
            yield from ((f"line {reader.line_num}", row) for row in reader)
        except csv.Error as error:
            raise InvalidDocument(f"line {reader.line_num} is not valid CSV: {error}") from None
    elif kind is DatasetFormat.INSPECT and text.lstrip()[:1] == "[":
        yield from ((f"sample {number}", sample) for number, sample in enumerate(from_json(text, "the file"), start=1))
    else:
        yield from ((f"line {number}", sample) for number, sample in from_jsonl(text, "the file"))


def _inspect_scenario(
    sample: Mapping[str, Any], where: str, scorer: DatasetScorer | None, report: ImportReport
) -> Scenario:
    for name in sorted({"sandbox", "files", "setup"} & {name for name, value in sample.items() if value}):
        report.skip(where, name, "a scenario does not run programs")
    choices, metadata = sample.get("choices") or [], sample.get("metadata") or {}
    if not isinstance(choices, list) or not isinstance(metadata, Mapping):
        raise InvalidDocument(f"{where}: choices must be a list and metadata an object")
    messages = _messages(sample.get("input"), where)
    if choices:
        messages = (*messages[:-1], Message(messages[-1].role, _with_choices(messages[-1].content, choices)))
    targets = _texts(sample.get("target"))
    if choices and not all(target in _LETTERS for target in targets):
        raise InvalidDocument(f"{where} has choices, so its target must be a letter A to Z")
    assertions = _choice_assertions(targets) if choices else _target_assertions(targets, scorer)
    all_metadata = {**metadata, **_non_empty(sample, "id", "target", "choices")}
    return Scenario("", _name(sample.get("id")), messages, metadata=all_metadata, assertions=assertions)


def _with_choices(question: str, choices: list[Any]) -> str:
    """The prompt of Inspect's `multiple_choice()`."""
    letters = _LETTERS[: len(choices)]
    options = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False))
    return (
        "Answer the following multiple choice question. The entire content of your response should be of the following "
        f"format: 'ANSWER: $LETTER' (without quotes) where LETTER is one of {','.join(letters)}.\n\n"
        f"{question}\n\n{options}"
    )


def _choice_assertions(letters: list[str]) -> tuple[Assertion, ...]:
    pattern = "[, ]*".join(letters)
    return (Assertion("regex", value=rf"(?i)ANSWER\s*:\s*{pattern}(?![A-Za-z])"),) if letters else ()


def _target_assertions(targets: list[str], scorer: DatasetScorer | None) -> tuple[Assertion, ...]:
    if not targets:
        return ()
    if scorer is DatasetScorer.MATCH:
        return (Assertion("regex", value=rf"(?i)(?:{'|'.join(map(_escaped, targets))})[\s.!?,;:'\"*)]*$"),)
    if scorer is DatasetScorer.EXACT:
        return _any_of("equals", targets)
    return (Assertion("icontains-any", value=escape_placeholders(targets)),)


def _openai_scenario(sample: Mapping[str, Any], where: str, scorer: DatasetScorer | None, _: ImportReport) -> Scenario:
    """A sample, or an output item of an eval run, which has the sample in its `item`."""
    sample = sample["item"] if isinstance(sample.get("item"), Mapping) else sample
    ideal = _texts(sample.get("ideal"))
    match scorer:
        case DatasetScorer.INCLUDES:
            assertions = _any_of("contains", ideal)
        case DatasetScorer.EXACT:
            assertions = _any_of("equals", ideal)
        case DatasetScorer.MATCH | None:
            assertions = _any_of("starts-with", ideal)
    others = {name: value for name, value in sample.items() if name not in ("input", "ideal")}
    metadata = {**others, **_non_empty(sample, "ideal")}
    return Scenario("", "", _messages(sample.get("input"), where), metadata=metadata, assertions=assertions)


def _row_scenario(sample: Mapping[str, Any], where: str, scorer: DatasetScorer | None, _: ImportReport) -> Scenario:
    """A row with a question, and optionally the expected answer; the other columns become metadata."""
    question_column = next((name for name in ("input", "prompt", "messages", "question") if sample.get(name)), None)
    answer_column = next((name for name in ("target", "ideal", "expected", "answer") if sample.get(name)), None)
    if question_column is None:
        raise InvalidDocument(f"{where} needs a column input, prompt, messages or question")
    if None in sample or None in sample.values():
        raise InvalidDocument(f"{where} has more or fewer cells than the header")
    metadata = {name: value for name, value in sample.items() if name not in (question_column, "id", "name") and value}
    question = sample[question_column]
    if question_column == "messages" and isinstance(question, str):
        question = from_json(question, where)
    assertions = _target_assertions(_texts(sample.get(answer_column or "")), scorer)
    name = _name(sample.get("name") or sample.get("id"))
    return Scenario("", name, _messages(question, where), metadata=metadata, assertions=assertions)


type _Reader = Callable[[Mapping[str, Any], str, DatasetScorer | None, ImportReport], Scenario]
_READERS: Mapping[DatasetFormat, _Reader] = {
    DatasetFormat.INSPECT: _inspect_scenario,
    DatasetFormat.OPENAI_EVALS: _openai_scenario,
    DatasetFormat.CSV: _row_scenario,
    DatasetFormat.JSONL: _row_scenario,
}


def _messages(value: Any, where: str) -> tuple[Message, ...]:
    if isinstance(value, str) and value.strip():
        return (Message(MessageRole.USER, value),)
    if not isinstance(value, list) or not value:
        raise InvalidDocument(f"{where}: input must be a text or a list of messages, and not empty")
    return tuple(_message(item, where) for item in value)


def _message(value: Any, where: str) -> Message:
    role = _ROLES.get(str(value.get("role"))) if isinstance(value, Mapping) else None
    if role is None:
        raise InvalidDocument(f"{where} has a message whose role is not system, developer, user or assistant")
    content = value.get("content")
    if isinstance(content, list) and all(isinstance(part, Mapping) and "text" in part for part in content):
        content = "".join(str(part["text"]) for part in content)
    if not isinstance(content, str) or not content.strip():
        raise InvalidDocument(f"{where} has a message whose content is not text or is empty")
    return Message(role, content)


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return [item if isinstance(item, str) else to_json(item) for item in values]


def _any_of(kind: str, texts: list[str]) -> tuple[Assertion, ...]:
    """Assertions of which one must pass: a set with the score of one passed assertion as its threshold."""
    parts = tuple(Assertion(kind, value=escape_placeholders(text)) for text in texts)
    if len(parts) < 2:
        return parts
    return (Assertion("assert-set", threshold=1 / len(parts), parts=parts),)


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in r"\^$.|?*+()[]{}/" else char for char in text)


def _non_empty(sample: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: sample[name] for name in names if sample.get(name) not in (None, "", [])}


def _name(value: Any) -> str:
    return "" if value is None else single_line(str(value))[:500]
