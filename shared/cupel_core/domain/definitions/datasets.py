"""Formats of dataset files, and how their expected answers are compared."""

from enum import StrEnum


class DatasetFormat(StrEnum):
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"
    CSV = "csv"
    JSONL = "jsonl"


class DatasetScorer(StrEnum):
    """How an answer is compared with a sample's target, in Inspect's words."""

    INCLUDES = "includes"
    """Anywhere, in any case: Inspect's `includes()`."""
    MATCH = "match"
    """At the end in any case, as Inspect's `match()`; at the start, as OpenAI evals' `Match`."""
    EXACT = "exact"
