"""Formats of dataset files, and how their expected answers are compared."""

from enum import StrEnum


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
