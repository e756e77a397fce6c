"""What models are called for."""

from enum import StrEnum


class ModelRole(StrEnum):
    """What a model is called for. The values are the same in stored items and the API."""

    TARGET = "target"
    JUDGE = "judge"
    PERSONA = "persona"
    SUMMARY = "summary"
    REPORT = "report"
    """The summary of a run's report."""
    OPERATION = "operation"
