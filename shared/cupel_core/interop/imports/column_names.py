"""Finds the columns of a table that have the prompt, the expected answer and the name of a row."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.datasets import ColumnMapping
from cupel_core.interop.imports.json_documents import InvalidDocument

_IGNORED = re.compile(r"[\s_-]+")
INPUTS = (
    *("input", "question", "prompt", "messages", "conversations", "conversation", "user_input", "user_message"),
    *("user_prompt", "query", "instruction", "inputs", "problem", "dialog", "text"),
)
"""These are common names of the column with the prompt, such as those of Inspect and ragas, in order of preference."""
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
    """It has the columns of a file as it writes them, in the order in which a row's value is looked for."""

    input: tuple[str, ...]
    answer: tuple[str, ...]
    id: tuple[str, ...]
    system: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    def instruction_and_input(self) -> tuple[str, str] | None:
        """Return the two columns of Alpaca's format, which are asked together; None if the file does not have both."""
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
    """Raise `InvalidDocument` if a chosen column has a name that another one differs from in its spelling only."""
    for column in chosen:
        same = [name for name in names if normalize_column(name) == normalize_column(column)]
        if len(same) > 1:
            raise InvalidDocument(f"the columns {join_names(same)} have one name; rename all but one of them")


def _by_normalized_name(columns: Iterable[str]) -> dict[str, str]:
    """Of columns that differ only in what is normalized away, the first counts."""
    names: dict[str, str] = {}
    for column in columns:
        names.setdefault(normalize_column(column), column)
    return names


def _named(names: Mapping[str, str], chosen: str | None, option: str) -> tuple[str, ...]:
    """Return the column that an option names, and nothing without one."""
    if chosen is None:
        return ()
    if normalize_column(chosen) not in names:
        raise InvalidDocument(f"{option}: there is no column {chosen}. Columns found: {join_names(names.values())}")
    return (names[normalize_column(chosen)],)


def _known(names: Mapping[str, str], known: Iterable[str]) -> tuple[str, ...]:
    return tuple(names[key] for name in known if (key := normalize_column(name)) in names)


def join_names(names: Iterable[str]) -> str:
    """Join names of columns for a message: long names are shortened, and at most `_MAX_LISTED` are listed."""
    shown = [name if len(name) <= 40 else f"{name[:40]}…" for name in names]
    more = f", and {len(shown) - _MAX_LISTED} more" if len(shown) > _MAX_LISTED else ""
    return ", ".join(shown[:_MAX_LISTED]) + more


def is_given(value: Any) -> bool:
    """Return whether a cell has a value: 0 and false are values, null and a blank text are none."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value not in ([], {})
