from enum import StrEnum


class ModelRole(StrEnum):
    """A model is called in one of these roles; the values are the same in stored items and the API."""

    TARGET = "target"
    JUDGE = "judge"
    PERSONA = "persona"
    SUMMARY = "summary"
    REPORT = "report"
    OPERATION = "operation"
