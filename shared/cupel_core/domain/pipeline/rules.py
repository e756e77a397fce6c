"""The rules of a profile beyond the shape of its fields. All that fail are reported together."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from cupel_core.domain.pipeline.artifact_rules import artifact_issues
from cupel_core.domain.pipeline.dependency_rules import dependency_issues
from cupel_core.domain.pipeline.effect_rules import effect_issues
from cupel_core.domain.pipeline.param_rules import param_issues
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue
from cupel_core.domain.pipeline.secrets import has_secret


def profile_errors(pipeline: Pipeline) -> tuple[ProfileIssue, ...]:
    """What is wrong with a profile; empty if nothing is. Neither models nor templates are checked."""
    return tuple(
        chain(
            _duplicate_ids(pipeline),
            dependency_issues(pipeline),
            artifact_issues(pipeline),
            effect_issues(pipeline),
            chain.from_iterable(
                param_issues(operation, f"operations.{number}.params")
                for number, operation in enumerate(pipeline.operations)
            ),
        )
    )


def secret_errors(operations: list[Mapping[str, Any]]) -> Iterator[ProfileIssue]:
    """Texts in the parameters of operations, as JSON, that look like a key."""
    for number, operation in enumerate(operations):
        for field, text in _texts(operation["params"], f"operations.{number}.params"):
            if has_secret(text):
                yield ProfileIssue(field, "looks like a secret: keys belong to the providers of the workspace")


def _duplicate_ids(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    ids = [operation.id for operation in pipeline.operations]
    for number, operation_id in enumerate(ids):
        if operation_id in ids[:number]:
            yield ProfileIssue(f"operations.{number}.id", f"there is another operation {operation_id}")


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield field, value
        case list():
            for number, part in enumerate(value):
                yield from _texts(part, f"{field}.{number}")
        case dict():
            for name, part in value.items():
                yield from _texts(part, f"{field}.{name}")
