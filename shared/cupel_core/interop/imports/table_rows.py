"""Converts a row of a table to a scenario: finds its columns, and makes all of them variables."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.datasets import ColumnMapping
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json
from cupel_core.interop.imports.multiple_choice import choice_assertions, letters_of, read_choices, with_choices
from cupel_core.interop.imports.recognition import lm_eval_fields
from cupel_core.interop.imports.sample_messages import parse_chat, read_messages
from cupel_core.interop.imports.samples import Sample, sample_name, texts_of
from cupel_core.interop.imports.scorers import target_assertions

_IGNORED = re.compile(r"[\s_-]+")
INPUTS = (
    *("input", "question", "prompt", "messages", "conversations", "conversation", "user_input", "user_message"),
    *("user_prompt", "query", "instruction", "inputs", "problem", "dialog", "text"),
)
"""Common names of the column with the prompt, such as those of Inspect and ragas, in order of preference."""
ANSWERS = (
    *("target", "ideal", "expected", "answer", "expected_output", "expected_answer", "expected_response"),
    *("reference", "reference_answer", "reference_output", "ground_truth", "ground_truths", "correct_answer"),
    *("gold", "gold_answer", "golden_answer", "ideal_answer", "best_answer", "answers", "answer_key", "expectations"),
    *("solution", "label", "output"),
)
"""The column with the expected answer has one of these names. `actual_output` and `response` are what a model said."""
IDS = ("id", "name", "sample_id", "example_id", "question_id", "task_id", "doc_id", "uid")
SYSTEMS = ("system_prompt", "system_message")
CHOICES = ("choices", "options")
_MAX_LISTED = 30


def normalize_column(name: str) -> str:
    """Return one key for names that differ only in case, spaces, `_` and `-`, such as `Expected Output`."""
    return _IGNORED.sub("", unicodedata.normalize("NFC", name).casefold())


@dataclass(frozen=True)
class TableColumns:
    """Holds the names of a file's columns, in the order in which a row's value is looked for."""

    input: tuple[str, ...]
    answer: tuple[str, ...]
    id: tuple[str, ...]
    system: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    def instruction_and_input(self) -> tuple[str, str] | None:
        found = {normalize_column(name): name for name in self.input}
        return (found["instruction"], found["input"]) if {"instruction", "input"} <= found.keys() else None


def find_columns(
    given: Iterable[str], mapping: ColumnMapping, *, empty: Iterable[str] = (), needs_input: bool = True
) -> TableColumns:
    """Find the columns of a file by their names. Raises `InvalidDocument` for a missing one, and lists those found.

    `empty` are columns without a value in any row: they can be named, but a known name alone does not choose them.
    """
    given = tuple(given)
    names = _by_normalized_name(given)
    all_names = _by_normalized_name(empty) | names
    columns = TableColumns(
        _named(all_names, mapping.input, "--input") or _known(names, INPUTS),
        _named(all_names, mapping.answer, "--answer") or _known(names, ANSWERS),
        _named(all_names, mapping.id, "--id") or _known(names, IDS),
        _known(names, SYSTEMS),
        _known(names, CHOICES),
    )
    _check_spellings((*columns.input[:1], *columns.answer[:1], *columns.id[:1]), given)
    if needs_input and not columns.input:
        raise InvalidDocument(
            f"none of the columns is known to have the prompt. Columns found: {join_names(names.values())}. Name yours "
            "with --input COLUMN, and with --answer COLUMN the expected answer; if the first line is a row, add a line "
            "of names, and if it is a title, remove it"
        )
    return columns


def _check_spellings(chosen: Iterable[str], names: Iterable[str]) -> None:
    """Raise `InvalidDocument` if a chosen column differs from another one in spelling only."""
    for column in chosen:
        same = [name for name in names if normalize_column(name) == normalize_column(column)]
        if len(same) > 1:
            raise InvalidDocument(f"the columns {join_names(same)} have one name; rename all but one of them")


def _by_normalized_name(columns: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for column in columns:
        names.setdefault(normalize_column(column), column)
    return names


def _named(names: Mapping[str, str], chosen: str | None, option: str) -> tuple[str, ...]:
    if chosen is None:
        return ()
    if normalize_column(chosen) not in names:
        raise InvalidDocument(f"{option}: there is no column {chosen}. Columns found: {join_names(names.values())}")
    return (names[normalize_column(chosen)],)


def _known(names: Mapping[str, str], known: Iterable[str]) -> tuple[str, ...]:
    return tuple(names[key] for name in known if (key := normalize_column(name)) in names)


def join_names(names: Iterable[str]) -> str:
    shown = [name if len(name) <= 40 else f"{name[:40]}…" for name in names]
    more = f", and {len(shown) - _MAX_LISTED} more" if len(shown) > _MAX_LISTED else ""
    return ", ".join(shown[:_MAX_LISTED]) + more


def is_given(value: Any) -> bool:
    """Return whether a cell has a value: 0 and false are values, null and a blank text are none."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value not in ([], {})


_LM_EVAL_COLUMNS = TableColumns(("input",), ("target",), ("id",))
_CHATS = frozenset({"messages", "conversations", "conversation", "dialog"})
"""In columns with these names, text that begins like JSON is a chat."""
_ROW_FIELDS = ("metadata", "vars")


@dataclass(frozen=True)
class _Question:
    value: Any
    column: str
    is_chat: bool = False


@dataclass(frozen=True)
class TableReader:
    columns: TableColumns

    def read(self, sample: Sample) -> Scenario:
        if (fields := lm_eval_fields(sample.fields, sample.where)) is not None:
            sample = sample.with_fields(fields)
            return TableReader(_LM_EVAL_COLUMNS)._read(sample)
        return self._read(sample)

    def _read(self, sample: Sample) -> Scenario:
        fields = sample.fields
        answer = _nested_answer(self._first_present(fields, self.columns.answer))
        question = self._question(sample)
        chat = read_messages(question.value, sample, has_answer=is_given(answer))
        messages = (*self._system(fields), *chat.messages)
        answer = chat.answer if chat.answer is not None else answer
        choices = read_choices(self._choices(fields), sample)
        assertions: tuple[Assertion, ...] = ()
        targets = texts_of(answer)
        if choices.texts:
            targets = letters_of(answer, choices, sample)
            target = targets if isinstance(answer, list) else "".join(targets)
            messages = (*messages[:-1], with_choices(messages[-1], choices.texts, target, sample.where))
            assertions = choice_assertions(target, choices.texts)
        elif sample.compares:
            assertions = target_assertions(targets, sample)
        metadata = _metadata(fields, targets, sample, without=question.column if question.is_chat else None)
        name = sample_name(self._first_given(fields, self.columns.id))
        return Scenario("", name, messages, metadata=metadata, assertions=assertions)

    def _question(self, sample: Sample) -> _Question:
        fields = sample.fields
        if together := self.columns.instruction_and_input():
            parts = [str(fields[name]).strip() for name in together if is_given(fields.get(name))]
            if parts:
                return _Question("\n\n".join(parts), together[0])
        column = next((name for name in self.columns.input if is_given(fields.get(name))), None)
        if column is None:
            name = self.columns.input[0]
            raise InvalidDocument(
                f"{sample.where} has nothing in the column {name}, so nothing is asked; fill it in, or remove the row"
            )
        value = fields[column]
        if isinstance(value, Mapping):
            value = _nested_question(value, column, sample)
        elif isinstance(value, str) and normalize_column(column) in _CHATS:
            value = parse_chat(value, column, sample)
        is_text = isinstance(value, str | int | float)
        return _Question(str(value) if is_text else value, column, is_chat=not is_text)

    def _system(self, fields: Mapping[str, Any]) -> tuple[Message, ...]:
        system = self._first_given(fields, self.columns.system)
        return (Message(MessageRole.SYSTEM, system),) if isinstance(system, str) else ()

    def _choices(self, fields: Mapping[str, Any]) -> Any:
        """Return the row's choices. A text counts as choices only if the row has a column named exactly `choices`."""
        value = self._first_given(fields, self.columns.choices)
        return value if not isinstance(value, str) or "choices" in fields else None

    def _first_given(self, fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
        return next((fields[name] for name in names if is_given(fields.get(name))), None)

    def _first_present(self, fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
        """Return the value of the first known column that the row has. If it is blank, no other column replaces it."""
        return next((fields[name] for name in names if name in fields), None)


def _nested_question(value: Mapping[str, Any], column: str, sample: Sample) -> Any:
    known = find_columns(value, ColumnMapping(), needs_input=False).input
    texts = [part for part in value.values() if isinstance(part, str)]
    if known and is_given(value[known[0]]):
        return value[known[0]]
    if len(texts) == 1:
        return texts[0]
    names = join_names(value)
    raise InvalidDocument(f"{sample.where}: {column} is an object with {names}; known names: {', '.join(INPUTS)}")


def _nested_answer(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    known = find_columns(value, ColumnMapping(), needs_input=False).answer
    if known and value.keys() <= {*known, "answer_start"}:
        return value[known[0]]
    return value["text"] if value.keys() in ({"text", "answer_start"}, {"text"}) else value


def _metadata(fields: Mapping[str, Any], targets: list[str], sample: Sample, without: str | None) -> dict[str, object]:
    metadata: dict[str, object] = {}
    variables: dict[str, object] = {}
    for name, value in fields.items():
        nested = _object(value, sample) if name in _ROW_FIELDS else None
        if nested is not None and name == "metadata":
            metadata |= nested
        elif nested is not None:
            variables |= nested
        elif name != without:
            variables[name] = value
    metadata["vars"] = variables
    if targets:
        metadata["target"] = targets[0] if len(targets) == 1 else targets
    return metadata


def _object(value: Any, sample: Sample) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = from_json(value, sample.where)
        except InvalidDocument:
            return None
    return value if isinstance(value, Mapping) else None
