"""Formats of dataset files, how their expected answers are compared, and which rows and columns are read."""

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from cupel_core.deferred import dataclass


class DatasetFormat(StrEnum):
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"
    CSV = "csv"
    JSONL = "jsonl"


class DatasetScorer(StrEnum):
    """How an answer is compared with a sample's target: in Inspect's words, or for OpenAI's evals in theirs."""

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
    """One is within the other, as in OpenAI's `FuzzyMatch`."""
    JSON = "json"
    """The JSON is equal, as in OpenAI's `JsonMatch`."""
    FACTUALITY = "factuality"
    """A model compares the facts, as the assertion `factuality`."""


@dataclass(frozen=True)
class ColumnMapping:
    """The columns that the author named; the others are found by their names."""

    input: str | None = None
    answer: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class DatasetOptions:
    """Which rows of a file are read, and from which columns. An offset skips rows, a limit bounds how many follow."""

    columns: ColumnMapping = ColumnMapping()
    limit: int | None = None
    offset: int = 0
    assertions: tuple[Mapping[str, Any], ...] = ()
    """The definition's own, which may use the columns as variables. They replace the default comparison."""
    is_checked_elsewhere: bool = False
    """Whether the definition has assertions besides."""

    @property
    def has_checks(self) -> bool:
        return self.is_checked_elsewhere or bool(self.assertions)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "assertions": [dict(each) for each in self.assertions]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DatasetOptions":
        columns = ColumnMapping(**data["columns"])
        return cls(columns, data["limit"], data["offset"], tuple(data["assertions"]), data["is_checked_elsewhere"])
