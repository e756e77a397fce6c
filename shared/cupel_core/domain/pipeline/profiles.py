"""Describes operation profiles, which are named, versioned sets of operations, and warns of probable mistakes in valid
ones.

This module executes no operation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import JsonName, decode
from cupel_core.domain.pipeline.artifacts import ArtifactUsage, PromptPlace
from cupel_core.domain.pipeline.operations import EffectType, OperationKind, ProfileOperation

MAX_OPERATIONS = 40
MAX_EFFECTS = 10
MAX_PROFILE_BYTES = 256 * 1024
"""The JSON of a version has at most this many bytes in ASCII, as it is stored. A table item has at most 400 KB."""


_INSERTED_AT = {
    PromptPlace.SYSTEM_PREPEND: EffectType.SYSTEM_UPDATE,
    PromptPlace.SYSTEM_APPEND: EffectType.SYSTEM_UPDATE,
    PromptPlace.AFTER_LAST_USER: EffectType.AFTER_LAST_USER,
    PromptPlace.DEPTH: EffectType.INSERT_AT_DEPTH,
}


class ExecutionMode(StrEnum):
    CONCURRENT = "concurrent"
    SEQUENTIAL = "sequential"


class ProfileIssue(NamedTuple):
    """Describes an error or a warning about a field (`operations.3.dependsOn.0`), for the profile's author."""

    field: str
    message: str


@dataclass(frozen=True)
class Pipeline:
    mode: Annotated[ExecutionMode, JsonName("executionMode")] = ExecutionMode.CONCURRENT
    operations: tuple[ProfileOperation, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, ProfileOperation]:
        """Return the operations by id; the first of two operations with one id counts."""
        return {operation.id: operation for operation in reversed(self.operations)}

    def depends(self, operation: ProfileOperation, other_id: str) -> bool:
        return other_id in self.dependencies(operation)

    def dependencies(self, operation: ProfileOperation) -> frozenset[str]:
        """Return the ids of all direct and indirect dependencies; the operation's own id is among them if there is a
        cycle."""
        return reachable({each.id: each.depends_on for each in self.operations}, operation.id)


def reachable(edges: Mapping[str, Sequence[str]], start: str) -> frozenset[str]:
    """Return the nodes to which a path of at least one edge leads from `start`."""
    seen: set[str] = set()
    pending = [*edges.get(start, ())]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += edges.get(node, ())
    return frozenset(seen)


@dataclass(frozen=True)
class ProfileVersion:
    """`content` is the JSON of the version's pipeline."""

    number: int
    content: Mapping[str, Any]
    created_at: datetime

    @property
    def pipeline(self) -> Pipeline:
        return decode(Pipeline, self.content)


@dataclass(frozen=True)
class ProfileHead:
    id: str
    name: str
    version: int
    enabled: bool
    created_at: datetime
    updated_at: datetime
    description: str | None = None
    session_id: str = ""
    """The names of the profile's sessions in chats contain it, so another value starts new sessions."""
    revision: int = field(default=1, compare=False)


class Profile(NamedTuple):
    head: ProfileHead
    version: ProfileVersion
    warnings: tuple[ProfileIssue, ...] = ()


def profile_warnings(pipeline: Pipeline) -> tuple[ProfileIssue, ...]:
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
