"""Rules about artifacts: one operation per tag, and what fits the kind of the operation."""

from collections.abc import Iterator

from cupel_core.domain.pipeline.artifacts import (
    ArtifactFormat,
    ArtifactPersistence,
    Inclusion,
    PromptPlace,
    WriteMode,
)
from cupel_core.domain.pipeline.operations import OperationParams, ProfileOperation
from cupel_core.domain.pipeline.params import GuardParams, LlmParams, OutputMode
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue


def artifact_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    writers: dict[str, str] = {}
    for number, operation in enumerate(pipeline.operations):
        field, artifact = f"operations.{number}.artifact", operation.artifact
        if artifact.tag in writers:
            message = f"art.{artifact.tag} is written by operation {writers[artifact.tag]} already"
            yield ProfileIssue(f"{field}.tag", message)
        writers.setdefault(artifact.tag, operation.id)
        yield from (ProfileIssue(f"{field}.{issue.field}", issue.message) for issue in _own_issues(operation))


def _own_issues(operation: ProfileOperation) -> Iterator[ProfileIssue]:
    artifact = operation.artifact
    if artifact.retention is not None and artifact.persistence is ArtifactPersistence.RUN_ONLY:
        yield ProfileIssue("retention", "a run_only artifact has no history")
    if artifact.usage.has_prompt and artifact.inclusion is None:
        yield ProfileIssue("inclusion", f"is required: usage {artifact.usage} needs an inclusion")
    if artifact.inclusion is not None:
        if not artifact.usage.has_prompt:
            yield ProfileIssue("inclusion", f"usage {artifact.usage} has none; use prompt_only or prompt+ui")
        yield from _inclusion_issues(artifact.inclusion)
    yield from _format_issues(operation)


def _inclusion_issues(inclusion: Inclusion) -> Iterator[ProfileIssue]:
    is_at_depth = inclusion.at is PromptPlace.DEPTH
    if is_at_depth and inclusion.depth_from_end is None:
        yield ProfileIssue("inclusion.depthFromEnd", "is required with at depth")
    if not is_at_depth and inclusion.depth_from_end is not None:
        yield ProfileIssue("inclusion.depthFromEnd", "is only possible with at depth")
    if inclusion.role is not None and inclusion.at in (PromptPlace.SYSTEM_PREPEND, PromptPlace.SYSTEM_APPEND):
        yield ProfileIssue("inclusion.role", "is only possible with at after_last_user or depth")


def _format_issues(operation: ProfileOperation) -> Iterator[ProfileIssue]:
    artifact, makes_json = operation.artifact, _makes_json(operation.params)
    if makes_json and artifact.format is not ArtifactFormat.JSON:
        what = "a guard's artifact" if isinstance(operation.params, GuardParams) else "the artifact of JSON output"
        yield ProfileIssue("format", f"must be json: {what} is JSON")
    elif not makes_json and artifact.format is ArtifactFormat.JSON:
        yield ProfileIssue("format", "must be text or markdown: the operation makes a text")
    if makes_json and artifact.write_mode is WriteMode.APPEND and not _makes_list(operation.params):
        yield ProfileIssue("writeMode", "must be replace: append needs a list, by an output schema of type array")


def _makes_json(params: OperationParams) -> bool:
    if isinstance(params, LlmParams):
        return params.output.mode is OutputMode.JSON
    return isinstance(params, GuardParams)


def _makes_list(params: OperationParams) -> bool:
    return isinstance(params, LlmParams) and params.output.is_list
