"""Converts a row of a table to a scenario: a prompt, optionally the expected answer, and all columns as variables."""

from collections.abc import Mapping
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.datasets import ColumnMapping
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.interop.imports.column_names import (
    INPUTS,
    TableColumns,
    find_columns,
    is_given,
    join_names,
    normalize_column,
)
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json
from cupel_core.interop.imports.multiple_choice import choice_assertions, letters_of, read_choices, with_choices
from cupel_core.interop.imports.recognition import lm_eval_fields
from cupel_core.interop.imports.sample_messages import parse_chat, read_messages
from cupel_core.interop.imports.samples import Sample, sample_name, texts_of
from cupel_core.interop.imports.scorers import target_assertions

_LM_EVAL_COLUMNS = TableColumns(("input",), ("target",), ("id",))
_CHATS = frozenset({"messages", "conversations", "conversation", "dialog"})
"""In columns with these names, text that begins like JSON is a chat."""
_ROW_FIELDS = ("metadata", "vars")
"""These columns have an object of further values, as Cupel and other tools write them."""


@dataclass(frozen=True)
class _Question:
    value: Any
    column: str
    is_chat: bool = False


@dataclass(frozen=True)
class TableReader:
    """Reads the rows of one file, whose columns are known."""

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
            raise InvalidDocument(f"{sample.where} has nothing in the column {name}, so nothing is asked")
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
    """Return the question in an object: its known column, or its only text. MLflow has `inputs: {question}`."""
    known = find_columns(value, ColumnMapping(), needs_input=False).input
    texts = [part for part in value.values() if isinstance(part, str)]
    if known and is_given(value[known[0]]):
        return value[known[0]]
    if len(texts) == 1:
        return texts[0]
    names = join_names(value)
    raise InvalidDocument(f"{sample.where}: {column} is an object with {names}; known names: {', '.join(INPUTS)}")


def _nested_answer(value: Any) -> Any:
    """Return the answers in an object: SQuAD has `answers: {text: […]}`, MLflow `expectations: {expected_response}`."""
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
    """Return an object, which may be JSON text in a table; None for other values."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = from_json(value, sample.where)
        except InvalidDocument:
            return None
    return value if isinstance(value, Mapping) else None
