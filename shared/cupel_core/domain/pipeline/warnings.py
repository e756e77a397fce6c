"""What a valid profile probably does not mean."""

import re
from collections.abc import Iterator

from cupel_core.domain.pipeline.artifacts import ArtifactUsage, PromptPlace
from cupel_core.domain.pipeline.operations import EffectType, OperationKind, ProfileOperation
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue

_INSERTED_AT = {
    PromptPlace.SYSTEM_PREPEND: EffectType.SYSTEM_UPDATE,
    PromptPlace.SYSTEM_APPEND: EffectType.SYSTEM_UPDATE,
    PromptPlace.AFTER_LAST_USER: EffectType.AFTER_LAST_USER,
    PromptPlace.DEPTH: EffectType.INSERT_AT_DEPTH,
}


def profile_warnings(pipeline: Pipeline) -> tuple[ProfileIssue, ...]:
    """For a profile without errors."""
    return tuple(
        issue
        for number, operation in enumerate(pipeline.operations)
        if operation.enabled
        for issue in _operation_warnings(pipeline, operation, f"operations.{number}")
    )


def _operation_warnings(pipeline: Pipeline, operation: ProfileOperation, field: str) -> Iterator[ProfileIssue]:
    for position, other_id in enumerate(operation.depends_on):
        if message := _dependency_warning(operation, pipeline.by_id[other_id]):
            yield ProfileIssue(f"{field}.dependsOn.{position}", message)
    if not _is_used(pipeline, operation):
        message = f"nothing uses art.{operation.artifact.tag}: no effect, condition, template or inclusion"
        yield ProfileIssue(f"{field}.artifact", message)
    inclusion = operation.artifact.inclusion
    if inclusion and _INSERTED_AT[inclusion.at] in (effect.type for effect in operation.effects):
        yield ProfileIssue(f"{field}.artifact.inclusion", "the value is both included and inserted by an effect")


def _dependency_warning(operation: ProfileOperation, other: ProfileOperation) -> str | None:
    if not other.enabled:
        return f"{other.id} is disabled: {operation.id} never runs"
    missing = [trigger for trigger in operation.triggers if trigger not in other.triggers]
    return f"{other.id} does not run on {missing[0]}: {operation.id} does not either" if missing else None


def _is_used(pipeline: Pipeline, operation: ProfileOperation) -> bool:
    artifact = operation.artifact
    if operation.effects or artifact.usage is not ArtifactUsage.INTERNAL:
        return True
    if operation.kind is OperationKind.GUARD:
        conditions = (each for other in pipeline.operations for each in other.run_conditions)
        if any(condition.operation_id == operation.id for condition in conditions):
            return True
    named = re.compile(rf"\b(art\.{artifact.tag}|art_by_operation\.{operation.id})\b")
    return any(
        named.search(text)
        for other in pipeline.operations
        for text in (*other.templates.values(), *other.expressions.values())
    )
