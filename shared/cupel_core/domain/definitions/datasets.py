"""Defines formats of dataset files, how their expected answers are compared, and which rows and columns are read."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from cupel_core.base.deferred import dataclass

EXPECTED_ANSWER = "expected answer"
"""An import's report has a note of this for each row that nothing checks."""


class DatasetFormat(StrEnum):
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"
    CSV = "csv"
    JSONL = "jsonl"


class DatasetScorer(StrEnum):
    """Each value is a way to compare an answer with a sample's target, as in Inspect or in OpenAI's evals."""

    INCLUDES = "includes"
    """The target is anywhere in the answer, in any case, as in Inspect's `includes()`; in the same case for
    OpenAI's `Includes`."""
    MATCH = "match"
    """The answer ends with the target, as in Inspect's `match()`; it begins with it for OpenAI's `Match`."""
    EXACT = "exact"
    """The answer equals the target, as in Inspect's `exact()`; for OpenAI's evals, character by character."""
    NUMERIC = "numeric"
    """The answer's last number equals the target, as in Inspect's `match(numeric=True)`."""
    FUZZY = "fuzzy"
    """The answer contains the target or is part of it, as in OpenAI's `FuzzyMatch`."""
    JSON = "json"
    """The JSON is equal, as in OpenAI's `JsonMatch`."""
    FACTUALITY = "factuality"
    """A model compares the facts, as the assertion `factuality`."""


@dataclass(frozen=True)
class ColumnMapping:
    """The author named these columns; the others are found by their names."""

    input: str | None = None
    answer: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class DatasetOptions:
    """Selects rows and columns of a file: at most `limit` rows after the first `offset` ones."""

    columns: ColumnMapping = ColumnMapping()
    limit: int | None = None
    offset: int = 0
    assertions: tuple[Mapping[str, Any], ...] = ()
    """The definition's own assertions replace the default comparison and may use the columns as variables."""
    is_checked_elsewhere: bool = False
    """The definition also has assertions that are not in these options."""

    @property
    def has_checks(self) -> bool:
        return self.is_checked_elsewhere or bool(self.assertions)
